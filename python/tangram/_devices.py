"""Where values are: on the CPU, and what onnxruntime calls that."""

from __future__ import annotations

import enum
from typing import Any

from tangram._exceptions import InvalidArgument


class OrtDeviceVendorId(enum.IntEnum):
    """Who makes a device."""

    NONE = 0x0000
    AMD = 0x1002
    NVIDIA = 0x10DE
    ARM = 0x13B5
    MICROSOFT = 0x1414
    HUAWEI = 0x19E5
    QUALCOMM = 0x5143
    INTEL = 0x8086


class OrtMemType(enum.IntEnum):
    """Who uses memory."""

    CPU_INPUT = -2
    CPU_OUTPUT = -1
    CPU = -1
    DEFAULT = 0


class OrtDeviceMemoryType(enum.IntEnum):
    """Who reaches the memory of a device."""

    DEFAULT = 0
    HOST_ACCESSIBLE = 5


class OrtAllocatorType(enum.IntEnum):
    """How memory is allocated."""

    INVALID = -1
    ORT_DEVICE_ALLOCATOR = 0
    ORT_ARENA_ALLOCATOR = 1


class OrtMemoryInfoDeviceType(enum.IntEnum):
    """Kinds of devices that have memory."""

    CPU = 0
    GPU = 1
    FPGA = 2
    NPU = 3


class OrtHardwareDeviceType(enum.IntEnum):
    """Kinds of devices."""

    CPU = 0
    GPU = 1
    NPU = 2


class OrtExecutionProviderDevicePolicy(enum.IntEnum):
    """Taken without effect: there is one provider."""

    DEFAULT = 0
    PREFER_CPU = 1
    PREFER_NPU = 2
    PREFER_GPU = 3
    MAX_PERFORMANCE = 4
    MAX_EFFICIENCY = 5
    MIN_OVERALL_POWER = 6


class OrtSparseFormat(enum.IntEnum):
    """Layouts of sparse tensors, which sessions do not compute on."""

    ORT_SPARSE_UNDEFINED = 0
    ORT_SPARSE_COO = 1
    ORT_SPARSE_CSRC = 2
    ORT_SPARSE_BLOCK_SPARSE = 4


class OrtCompileApiFlags(enum.IntFlag):
    """What `ModelCompiler` is asked for, which is not here."""

    NONE = 0
    ERROR_IF_NO_NODES_COMPILED = 1
    ERROR_IF_OUTPUT_FILE_EXISTS = 2


# Names of devices with onnxruntime's numbers of their kinds.
_KINDS = {"cpu": 0, "cuda": 1, "gpu": 1, "dml": 4, "webgpu": 1, "npu": 3, "cann": 3}


class OrtDevice:
    """A device: `OrtDevice.make("cpu", 0)`."""

    __slots__ = ("_id", "_name", "_vendor")

    def __init__(self, c_ort_device: str, device_id: int = 0, vendor_id: int = -1) -> None:
        self._name = c_ort_device
        self._id = device_id
        self._vendor = max(0, int(vendor_id))

    @staticmethod
    def make(
        ort_device_name: str, device_id: int, vendor_id: int | OrtDeviceVendorId = -1
    ) -> OrtDevice:
        """Returns the device of this name; raises `InvalidArgument` if there is no such kind."""
        if ort_device_name.lower() not in _KINDS:
            known = ", ".join(_KINDS)
            raise InvalidArgument(f"there is no kind of device `{ort_device_name}`: {known}")
        return OrtDevice(ort_device_name.lower(), device_id, int(vendor_id))

    def needs_cpu(self) -> None:
        """Raises `NotImplementedError` if this is not the CPU."""
        if self._name != "cpu":
            raise NotImplementedError(f"there is no memory on `{self._name}`: models run on the CPU")

    @staticmethod
    def cpu() -> int:
        """Returns the number of this kind of device; those below do so too."""
        return _KINDS["cpu"]

    @staticmethod
    def cuda() -> int:
        return _KINDS["cuda"]

    @staticmethod
    def gpu() -> int:
        return _KINDS["gpu"]

    @staticmethod
    def dml() -> int:
        return _KINDS["dml"]

    @staticmethod
    def webgpu() -> int:
        return _KINDS["webgpu"]

    @staticmethod
    def fpga() -> int:
        return int(OrtMemoryInfoDeviceType.FPGA)

    @staticmethod
    def npu() -> int:
        return _KINDS["npu"]

    @staticmethod
    def cann() -> int:
        return _KINDS["cann"]

    @staticmethod
    def default_memory() -> int:
        """Returns the number of the usual kind of memory."""
        return int(OrtDeviceMemoryType.DEFAULT)

    def mem_type(self) -> int:
        """Returns the number of its kind of memory."""
        return self.device_mem_type()

    def vendor_id(self) -> int:
        """Returns who makes it, if that was said."""
        return self.device_vendor_id()

    def device_id(self) -> int:
        """Returns which of the devices of its kind it is."""
        return self._id

    def device_type(self) -> int:
        """Returns the number of its kind: 0 for the CPU."""
        return _KINDS[self._name]

    def device_mem_type(self) -> int:
        """Returns the number of its kind of memory."""
        return int(OrtDeviceMemoryType.DEFAULT)

    def device_vendor_id(self) -> int:
        """Returns who makes it, if that was said."""
        return self._vendor

    def __repr__(self) -> str:
        return f"OrtDevice({self._name!r}, {self._id})"

    def _get_c_device(self) -> OrtDevice:
        return self


class OrtMemoryInfo:
    """A kind of memory: that of the CPU."""

    __slots__ = ("allocator_type", "device_id", "device_mem_type", "device_vendor_id", "mem_type", "name")

    def __init__(
        self, name: str, allocator_type: OrtAllocatorType, device_id: int, mem_type: OrtMemType
    ) -> None:
        self.name: str = name
        self.allocator_type: OrtAllocatorType = allocator_type
        self.device_id: int = device_id
        self.mem_type: OrtMemType = mem_type
        self.device_mem_type: OrtDeviceMemoryType = OrtDeviceMemoryType.DEFAULT
        self.device_vendor_id: int = 0

    @staticmethod
    def create_v2(
        name: str,
        device_type: OrtMemoryInfoDeviceType,
        vendor_id: int,
        device_id: int,
        device_mem_type: OrtDeviceMemoryType,
        alignment: int,
        allocator_type: OrtAllocatorType,
    ) -> OrtMemoryInfo:
        """Returns a kind of memory of the CPU; raises `NotImplementedError` for another device."""
        if device_type != OrtMemoryInfoDeviceType.CPU:
            raise NotImplementedError("models run on the CPU: there is no memory of another device")
        info = OrtMemoryInfo(name, allocator_type, device_id, OrtMemType.DEFAULT)
        info.device_mem_type, info.device_vendor_id = device_mem_type, vendor_id
        return info

    def __repr__(self) -> str:
        return f"OrtMemoryInfo({self.name!r})"


class OrtArenaCfg:
    """Taken without effect: a session's arena is planned, and exactly as large as is needed."""

    __slots__ = (
        "arena_extend_strategy",
        "initial_chunk_size_bytes",
        "initial_growth_chunk_size_bytes",
        "max_dead_bytes_per_chunk",
        "max_mem",
        "max_power_of_two_extend_bytes",
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(args[0]) if len(args) == 1 and isinstance(args[0], dict) else kwargs
        self.max_mem: int = given.get("max_mem", 0)
        self.arena_extend_strategy: int = given.get("arena_extend_strategy", -1)
        self.initial_chunk_size_bytes: int = given.get("initial_chunk_size_bytes", -1)
        self.max_dead_bytes_per_chunk: int = given.get("max_dead_bytes_per_chunk", -1)
        self.initial_growth_chunk_size_bytes: int = given.get("initial_growth_chunk_size_bytes", -1)
        self.max_power_of_two_extend_bytes: int = given.get("max_power_of_two_extend_bytes", -1)


class OrtHardwareDevice:
    """The processor."""

    __slots__ = ("device_id", "metadata", "type", "vendor", "vendor_id")

    def __init__(self) -> None:
        self.type: OrtHardwareDeviceType = OrtHardwareDeviceType.CPU
        self.vendor: str = ""
        self.vendor_id: int = 0
        self.device_id: int = 0
        self.metadata: dict[str, str] = {}

    def __repr__(self) -> str:
        return "OrtHardwareDevice(CPU)"


class OrtEpDevice:
    """The provider that runs models, on the processor."""

    __slots__ = ("device", "ep_metadata", "ep_name", "ep_options", "ep_vendor")

    def __init__(self) -> None:
        from tangram import _native

        self.ep_name: str = "CPUExecutionProvider"
        self.ep_vendor: str = "Tangram"
        self.ep_metadata: dict[str, str] = {"version": _native.version()}
        self.ep_options: dict[str, str] = {}
        self.device: OrtHardwareDevice = OrtHardwareDevice()

    def memory_info(self, memory_type: OrtDeviceMemoryType) -> OrtMemoryInfo:
        """Returns the kind of its memory."""
        return cpu_memory()

    def create_sync_stream(self, options: Any = None) -> None:
        """Raises `NotImplementedError`: a run is done when it returns, there is no stream."""
        raise NotImplementedError("a run is done when it returns: there is no stream to wait for")

    def __repr__(self) -> str:
        return f"OrtEpDevice({self.ep_name})"


class OrtEpAssignedNode:
    """A node of a model: `name`, `domain` and `op_type`."""

    __slots__ = ("domain", "name", "op_type")

    def __init__(self, name: str, domain: str, op_type: str) -> None:
        self.name: str = name
        self.domain: str = domain
        self.op_type: str = op_type


class OrtEpAssignedSubgraph:
    """The nodes that a provider runs."""

    __slots__ = ("_nodes", "ep_name")

    def __init__(self, ep_name: str, nodes: list[OrtEpAssignedNode]) -> None:
        self.ep_name: str = ep_name
        self._nodes = nodes

    def get_nodes(self) -> list[OrtEpAssignedNode]:
        """Returns the nodes."""
        return list(self._nodes)


class OrtExternalInitializerInfo:
    """Where an initializer lies: `filepath`, `file_offset` and `byte_size`."""

    __slots__ = ("byte_size", "file_offset", "filepath")

    def __init__(self, filepath: str, file_offset: int, byte_size: int) -> None:
        self.filepath: str = filepath
        self.file_offset: int = file_offset
        self.byte_size: int = byte_size


def cpu_memory() -> OrtMemoryInfo:
    """The memory of the CPU."""
    return OrtMemoryInfo("Cpu", OrtAllocatorType.ORT_ARENA_ALLOCATOR, 0, OrtMemType.DEFAULT)
