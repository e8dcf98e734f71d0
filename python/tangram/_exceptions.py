"""The exceptions of sessions, under onnxruntime's names."""

from __future__ import annotations

from tangram import _native


class Fail(_native.TangramError, RuntimeError):
    """What could not be done, such as a model that an operation of cannot be evaluated."""

    __module__ = "tangram"


class InvalidArgument(_native.TangramError, ValueError, RuntimeError):
    """Inputs or outputs that are not those of the model."""

    __module__ = "tangram"


class NoSuchFile(_native.TangramError, FileNotFoundError):
    """A model that is not where it was looked for."""

    __module__ = "tangram"


class InvalidGraph(_native.ModelError):
    """A model whose graph is wrong."""

    __module__ = "tangram"


class NoModel(Fail):
    """Raised by nothing here: a session has a model."""

    __module__ = "tangram"


class ModelLoaded(Fail):
    """Raised by nothing here: a session has one model for good."""

    __module__ = "tangram"


class EngineError(Fail):
    """Raised by nothing here: there is one provider, which has no engine of its own."""

    __module__ = "tangram"


class RuntimeException(Fail):
    """Raised by nothing here: what fails is a `Fail`."""

    __module__ = "tangram"


class NotImplemented(Fail, NotImplementedError):
    """What onnxruntime has and sessions here do not, and why."""

    __module__ = "tangram"


class EPFail(Fail):
    """Raised by nothing here: there is one provider."""

    __module__ = "tangram"


class NotFound(Fail):
    """Raised by nothing here: what is not there is a `NoSuchFile`."""

    __module__ = "tangram"


class ModelLoadCanceled(Fail):
    """Raised by nothing here: loading is not cancelled."""

    __module__ = "tangram"


class ModelRequiresCompilation(Fail):
    """Raised by nothing here: models are compiled when they are loaded."""

    __module__ = "tangram"


class DeviceReset(Fail):
    """Raised by nothing here: there is no device to be reset."""

    __module__ = "tangram"


def failure(error: Exception) -> Exception:
    """What the native half raises when a model runs, as an exception of sessions."""
    if isinstance(error, _native.EvaluationError):
        return Fail(str(error))
    return error if isinstance(error, InvalidArgument) else InvalidArgument(str(error))


def opening_failure(error: Exception) -> Exception:
    """What the native half raises when a session is made, as an exception of sessions."""
    if isinstance(error, FileNotFoundError):
        return NoSuchFile(str(error))
    if isinstance(error, _native.ModelError):
        plain = type(error) is _native.ModelError
        return InvalidGraph(str(error)) if plain else error
    return failure(error)
