//! Against the reference implementation in Python, if `TANGRAM_PYTHON` names one.

use std::path::Path;
use std::process::Command;

use prost::Message as _;
use tangram_onnx::file::*;
use tangram_onnx::proto::schema::{Kind, Message};
use tangram_onnx::proto::*;

/// Runs a script with arguments; `None` if there is no Python with onnx.
fn python(script: &str, arguments: &[&Path]) -> Option<String> {
    let found = std::env::var_os("TANGRAM_PYTHON").filter(|python| {
        let probe = Command::new(python).args(["-c", "import onnx"]).output();
        probe.is_ok_and(|output| output.status.success())
    });
    let Some(python) = found else {
        println!("skipped: needs onnx");
        return None;
    };
    let output = Command::new(python).arg("-c").arg(script).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

const DESCRIPTORS: &str = r"
import onnx
from onnx import onnx_ml_pb2 as pb
forms = {1: 'Fixed64', 2: 'Fixed32', 3: 'Varint', 4: 'Varint', 5: 'Varint', 9: 'String',
         11: 'Message', 12: 'Bytes', 14: 'Varint'}
def walk(message):
    name = message.full_name.removeprefix('onnx.')
    for field in sorted(message.fields, key=lambda field: field.number):
        form = forms[field.type]
        if form == 'Message':
            form = field.message_type.full_name.removeprefix('onnx.')
        repeated = field.is_repeated if hasattr(field, 'is_repeated') else field.label == 3
        print(name, field.number, field.name, form, 'many' if repeated else 'one')
    for inner in message.nested_types:
        walk(inner)
for message in pb.DESCRIPTOR.message_types_by_name.values():
    walk(message)
";

#[test]
fn the_tables_are_those_of_the_descriptors() {
    let Some(text) = python(DESCRIPTORS, &[]) else { return };
    let mut expected: Vec<_> = text.lines().map(str::to_owned).collect();
    let mut found = Vec::new();
    for message in Message::ALL {
        for field in message.fields() {
            let form = match field.kind {
                Kind::Message(inner) => inner.name().to_owned(),
                other => format!("{other:?}"),
            };
            let (name, number) = (message.name(), field.number);
            let count = if field.repeated { "many" } else { "one" };
            found.push(format!("{name} {number} {} {form} {count}", field.name));
        }
    }
    expected.sort();
    found.sort();
    assert_eq!(found, expected);
}

const ENUMERATIONS: &str = r"
import onnx
for name, number in onnx.TensorProto.DataType.items(): print('data', name, number)
for name, number in onnx.AttributeProto.AttributeType.items(): print('attribute', name, number)
";

#[test]
fn the_enumerations_are_those_of_the_descriptors() {
    let Some(text) = python(ENUMERATIONS, &[]) else { return };
    let plain = |name: String| name.replace('_', "").to_uppercase();
    for line in text.lines() {
        let [kind, name, number] = line.split(' ').collect::<Vec<_>>()[..] else {
            panic!("{line}")
        };
        let number: i32 = number.parse().unwrap();
        let found = match kind {
            "data" => format!("{:?}", DataType::try_from(number).unwrap()),
            _ => format!("{:?}", AttributeType::try_from(number).unwrap()),
        };
        assert_eq!(plain(found), plain(name.to_owned()));
    }
    assert_eq!(text.lines().filter(|line| line.starts_with("data")).count(), 29);
}

/// One tensor of each element type, as typed field and as `raw_data`; then in a file of its own.
const TENSORS: &str = r"
import sys, onnx, numpy as np
from onnx import helper, numpy_helper, TensorProto as T
tensors = []
for name, code in T.DataType.items():
    if name in ('UNDEFINED', 'STRING'): continue
    values = np.array([1, 0, 1, 2, 1] if name[:4] in ('UINT', 'FLOA') else [1, 0, 1, 1, 0])
    if name == 'FLOAT8E8M0': values[1] = 4  # has no zero
    array = values.astype(helper.tensor_dtype_to_np_dtype(code))
    raw = numpy_helper.from_array(array, name + '_raw')
    assert raw.data_type == code, name
    tensors.append(helper.make_tensor(name + '_typed', code, [5], values.tolist()))
    tensors.append(raw)
large = numpy_helper.from_array(np.arange(3000, dtype=np.float32), 'large')
big = numpy_helper.from_array(np.arange(400000, dtype=np.int64), 'big')
out = [helper.make_tensor_value_info('y', T.FLOAT, ['n', 2, None])]
inp = [helper.make_tensor_value_info('x', T.FLOAT, ['n', 2, None])]
node = helper.make_node('LeakyRelu', ['x'], ['y'], alpha=0.5, doc_string='')
graph = helper.make_graph([node], 'g', inp, out, tensors + [large, big])
model = helper.make_model(graph, ir_version=14, opset_imports=[helper.make_opsetid('', 21)])
open(sys.argv[1], 'wb').write(model.SerializeToString())
onnx.save(model, sys.argv[2], save_as_external_data=True, location='weights', size_threshold=100)
";

/// Compares all models with the first, element by element.
const COMPARE: &str = r"
import sys, os, onnx, numpy as np
from onnx import numpy_helper
first = onnx.load(sys.argv[1])
for path in sys.argv[2:]:
    onnx.checker.check_model(path)
    other = onnx.load(path)
    assert other.graph.node == first.graph.node and other.graph.input == first.graph.input
    assert len(other.graph.initializer) == len(first.graph.initializer)
    for a, b in zip(first.graph.initializer, other.graph.initializer):
        assert a.name == b.name
        x, y = numpy_helper.to_array(a), numpy_helper.to_array(b)
        assert x.dtype == y.dtype and x.tobytes() == y.tobytes(), a.name
print('same', len(first.graph.initializer))
";

#[test]
fn tensors_of_every_type_agree_with_the_reference() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let (inline, split, ours, both) = (at("i.onnx"), at("e.onnx"), at("o.onnx"), at("b.onnx"));
    let Some(_) = python(TENSORS, &[&inline, &split]) else { return };

    let loaded = open(&inline).unwrap();
    assert_eq!(loaded.unknown, []);
    assert!(loaded.model.encode_to_vec() == std::fs::read(&inline).unwrap());
    let graph = loaded.model.graph.as_ref().unwrap();
    let read = |tensor| tensor_bytes(tensor, &loaded.files).unwrap();
    let mut pairs = 0;
    for pair in graph.initializer.chunks(2).take_while(|pair| pair[0].name().ends_with("_typed")) {
        assert_eq!(read(&pair[0]), read(&pair[1]), "{}", pair[0].name());
        pairs += 1;
    }
    assert_eq!(pairs, 27);

    let all = ExternalPolicy { threshold: 1, location: None };
    let options = SaveOptions { storage: Storage::External(all), ..SaveOptions::default() };
    save(&loaded.model, &loaded.files, &ours, &options).unwrap();
    let loaded = open(&split).unwrap();
    let external = &loaded.model.graph.as_ref().unwrap().initializer;
    assert!(external.iter().any(TensorProto::is_external));
    save(&loaded.model, &loaded.files, &both, &SaveOptions::default()).unwrap();
    let text = python(COMPARE, &[&inline, &split, &ours, &both]).unwrap();
    assert_eq!(text.trim(), "same 56");
}

/// Sums up what is in the folder that `TANGRAM_MODELS` names: each file survives byte for byte.
#[test]
fn models_survive() {
    let Some(folder) = std::env::var_os("TANGRAM_MODELS") else {
        println!("skipped: needs models");
        return;
    };
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "onnx") {
            continue;
        }
        let loaded = open(&path).unwrap();
        assert_eq!(loaded.unknown, [], "{}", path.display());
        let mut bytes = Vec::new();
        encode(&loaded.model, &mut bytes).unwrap();
        assert!(bytes == std::fs::read(&path).unwrap(), "{}", path.display());
    }
}
