//! Model files: elements of tensors, external data, saving.

use std::fs::{self, File};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use proptest::prelude::*;
use prost::Message as _;
use tangram_onnx::file::*;
use tangram_onnx::proto::*;

fn tensor(name: &str, data_type: DataType, dims: &[i64]) -> TensorProto {
    TensorProto {
        name: Some(name.into()),
        data_type: Some(data_type as i32),
        dims: dims.to_vec(),
        ..TensorProto::default()
    }
}

fn raw(name: &str, bytes: impl Into<Bytes>) -> TensorProto {
    let bytes = bytes.into();
    let shape = tensor(name, DataType::Uint8, &[bytes.len() as i64]);
    TensorProto { raw_data: Some(bytes), ..shape }
}

fn external(name: &str, len: i64, entries: &[(&str, &str)]) -> TensorProto {
    let entry = |&(key, value): &(&str, &str)| StringStringEntryProto {
        key: Some(key.into()),
        value: Some(value.into()),
    };
    TensorProto {
        external_data: entries.iter().map(entry).collect(),
        data_location: Some(DataLocation::External as i32),
        ..tensor(name, DataType::Uint8, &[len])
    }
}

fn model(initializer: Vec<TensorProto>) -> ModelProto {
    let graph = GraphProto { name: Some("g".into()), initializer, ..<_>::default() };
    ModelProto { ir_version: Some(IR_VERSION), graph: Some(graph), ..<_>::default() }
}

fn bytes_of(tensor: &TensorProto, files: &ExternalFiles) -> Result<Bytes, String> {
    match tensor_bytes(tensor, files).map_err(|error| error.to_string())?.elements {
        Elements::Bytes(bytes) => Ok(bytes),
        Elements::Strings(_) => Err("strings".into()),
    }
}

#[test]
fn typed_fields_become_little_endian_bytes() {
    use DataType::*;
    let ints: [(DataType, i64, &[i32], &[u8]); 12] = [
        (Int8, 3, &[-1, 127, 255], &[0xff, 0x7f, 0xff]),
        (Uint8, 2, &[0, 200], &[0, 200]),
        (Bool, 3, &[0, 1, 2], &[0, 1, 1]),
        (Int16, 2, &[-2, 1], &[0xfe, 0xff, 1, 0]),
        (Uint16, 1, &[0xfffe], &[0xfe, 0xff]),
        (Float16, 1, &[0x3c00], &[0, 0x3c]),
        (Bfloat16, 1, &[0x3f80], &[0x80, 0x3f]),
        (Float8e5m2, 1, &[0x7b], &[0x7b]),
        (Int32, 1, &[-2], &[0xfe, 0xff, 0xff, 0xff]),
        (Int4, 3, &[0x21, 0x0f], &[0x21, 0x0f]),
        (Uint2, 5, &[69, 2], &[69, 2]),
        // [1, 1.5, 0, 1, 2] packed by the reference implementation.
        (Float6e2m3, 5, &[8, 12, 0, 8, 16], &[8, 3, 32, 16]),
    ];
    for (data_type, len, entries, expected) in ints {
        let mut typed = tensor("t", data_type, &[len]);
        typed.int32_data = entries.to_vec();
        let found = bytes_of(&typed, &ExternalFiles::none());
        assert_eq!(found.as_deref(), Ok(expected), "{data_type:?}");
    }
    let mut wide = tensor("t", Uint32, &[1]);
    wide.uint64_data = vec![0x0403_0201];
    assert_eq!(bytes_of(&wide, &ExternalFiles::none()).as_deref(), Ok(&[1, 2, 3, 4][..]));
    let mut complex = tensor("t", Complex64, &[1]);
    complex.float_data = vec![1.0, -2.0];
    let expected = [0, 0, 0x80, 0x3f, 0, 0, 0, 0xc0];
    assert_eq!(bytes_of(&complex, &ExternalFiles::none()).as_deref(), Ok(&expected[..]));
    let empty = tensor("t", Double, &[4, 0, i64::MAX, i64::MAX]);
    assert_eq!(bytes_of(&empty, &ExternalFiles::none()).as_deref(), Ok(&[][..]));
}

#[test]
fn elements_that_do_not_fit_are_refused() {
    let with = |change: fn(&mut TensorProto)| {
        let mut tensor = raw("t", vec![0; 4]);
        change(&mut tensor);
        bytes_of(&tensor, &ExternalFiles::none()).unwrap_err()
    };
    let int32 = |tensor: &mut TensorProto, data_type: DataType, value| {
        tensor.raw_data = None;
        tensor.dims = vec![1];
        tensor.data_type = Some(data_type as i32);
        tensor.int32_data = vec![value];
    };
    let cases = [
        (with(|t| t.dims = vec![5]), "expected 5 bytes by type and dimensions, found 4"),
        (with(|t| t.dims = vec![3]), "expected 3 bytes by type and dimensions, found 4"),
        (with(|t| t.dims = vec![4, -1]), "dimension 1 is negative: -1"),
        (with(|t| t.dims = vec![1 << 32, 1 << 32]), "multiply to more"),
        (with(|t| t.data_type = None), "0 is not a known element type"),
        (with(|t| t.data_type = Some(99)), "99 is not a known element type"),
        (with(|t| t.int64_data = vec![1]), "expected elements in raw_data, found some in int64"),
        (with(|t| t.segment = Some(Segment::default())), "segments"),
        (with(|t| t.raw_data = None), "expected 4 entries in int32_data, found 0"),
    ];
    for (error, expected) in cases {
        assert!(error.contains(expected), "{error}");
    }
    for (data_type, value) in
        [(DataType::Uint8, 256), (DataType::Int16, -0x8001), (DataType::Float6e3m2, 64)]
    {
        let mut tensor = raw("t", vec![]);
        int32(&mut tensor, data_type, value);
        let error = bytes_of(&tensor, &ExternalFiles::none()).unwrap_err();
        assert!(
            error.contains(&format!("int32_data[0] is {value}, which does not fit")),
            "{error}"
        );
    }
}

#[test]
fn external_data_stays_in_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (inside, secret) = (folder.path().join("m"), folder.path().join("secret"));
    fs::create_dir_all(inside.join("sub")).unwrap();
    fs::write(&secret, [9; 8]).unwrap();
    fs::write(inside.join("sub/w"), [1, 2, 3, 4, 5, 6]).unwrap();
    let files = ExternalFiles::in_folder(&inside);
    let at = |location: &str, offset: &str, length: Option<&str>, len| {
        let mut entries = vec![("location", location), ("offset", offset)];
        entries.extend(length.map(|length| ("length", length)));
        bytes_of(&external("t", len, &entries), &files)
    };
    assert_eq!(at("sub/w", "2", Some("3"), 3).as_deref(), Ok(&[3, 4, 5][..]));
    assert_eq!(at("./sub/w", "1", None, 2).as_deref(), Ok(&[2, 3][..]));
    let max = u64::MAX.to_string();
    let refused = [
        (at("../secret", "0", None, 8), "expected a file in the model's folder"),
        (at("sub/../../secret", "0", None, 8), "expected a file in the model's folder"),
        (at(secret.to_str().unwrap(), "0", None, 8), "expected a file in the model's folder"),
        (at("", "0", None, 8), "no location"),
        (at("sub", "0", None, 8), "not a regular file"),
        (at("none", "0", None, 8), "none: No such file"),
        (at("sub/w", "4", Some("3"), 3), "expected at least 7 bytes, found 6"),
        (at("sub/w", &max, Some(&max), 3), "found 6"),
        (at("sub/w", "-1", None, 3), "expected a number of bytes for `offset`, found `-1`"),
        (at("sub/w", "0", Some("2"), 3), "expected 3 bytes by type and dimensions, found 2"),
    ];
    for (found, expected) in refused {
        let error = found.unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
    let alone = bytes_of(&external("t", 1, &[("location", "w")]), &ExternalFiles::none());
    assert!(alone.unwrap_err().contains("has no folder"));
}

#[cfg(unix)]
#[test]
fn links_out_of_the_folder_are_refused_unless_wanted() {
    let folder = tempfile::tempdir().unwrap();
    let inside = folder.path().join("m");
    fs::create_dir(&inside).unwrap();
    fs::write(folder.path().join("blob"), [7]).unwrap();
    fs::write(inside.join("near"), [8]).unwrap();
    std::os::unix::fs::symlink("../blob", inside.join("far_link")).unwrap();
    std::os::unix::fs::symlink("near", inside.join("near_link")).unwrap();
    let far = external("t", 1, &[("location", "far_link")]);
    let near = external("t", 1, &[("location", "near_link")]);
    let files = ExternalFiles::in_folder(&inside);
    assert_eq!(bytes_of(&near, &files).as_deref(), Ok(&[8][..]));
    assert!(bytes_of(&far, &files).unwrap_err().contains("expected a file in the model's folder"));
    let files = files.following_links();
    assert_eq!(bytes_of(&far, &files).as_deref(), Ok(&[7][..]));
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn payloads(path: &Path) -> Vec<Bytes> {
    let loaded = open(path).unwrap();
    let graph = loaded.model.graph.unwrap();
    graph.initializer.iter().map(|tensor| bytes_of(tensor, &loaded.files).unwrap()).collect()
}

/// Bytes without a pattern that a shift would keep, with a block of zeros inside.
fn noise(len: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..len).map(|i| (i * i / 7 + i) as u8).collect();
    if len > 300_000 {
        bytes[100_000..300_000].fill(0);
    }
    bytes
}

#[test]
fn external_data_follows_the_model_wherever_it_is_saved() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.onnx"), folder.path().join("b.onnx"));
    let mut typed = tensor("typed", DataType::Int64, &[200]);
    typed.int64_data = (0..200).collect();
    let expected: Vec<_> = [3, 5000, 2 << 20, 1600].map(noise).into();
    let mut tensors: Vec<_> = expected.iter().map(|bytes| raw("r", bytes.clone())).collect();
    tensors[3] = typed;
    let expected: Vec<Bytes> =
        tensors.iter().map(|tensor| bytes_of(tensor, &ExternalFiles::none()).unwrap()).collect();
    let first = model(tensors);
    let options = SaveOptions {
        storage: Storage::External(ExternalPolicy::default()),
        ..SaveOptions::default()
    };
    save(&first, &ExternalFiles::none(), &a, &options).unwrap();
    assert_eq!(names(folder.path()), ["a.onnx", "a.onnx.data"]);
    assert!(payloads(&a) == expected);

    let loaded = open(&a).unwrap();
    let initializers = &loaded.model.graph.as_ref().unwrap().initializer;
    assert!(!initializers[0].is_external() && initializers[3].is_external());
    let offset = |index: usize| ExternalData::of(&initializers[index]).unwrap().offset;
    assert_eq!([offset(1), offset(2)], [0, 8192]);
    assert_eq!(offset(3), 8192 + (2 << 20));

    // In place, while the old files are mapped and read.
    save(&loaded.model, &loaded.files, &a, &SaveOptions::default()).unwrap();
    assert!(payloads(&a) == expected);
    // Elsewhere; still readable through the maps of the replaced files.
    save(&loaded.model, &loaded.files, &b, &SaveOptions::default()).unwrap();
    assert!(payloads(&b) == expected);
    assert_eq!(names(folder.path()), ["a.onnx", "a.onnx.data", "b.onnx", "b.onnx.data"]);
    // All in one.
    let inline = SaveOptions { storage: Storage::Inline, ..SaveOptions::default() };
    save(&loaded.model, &loaded.files, &b, &inline).unwrap();
    assert_eq!(names(folder.path()), ["a.onnx", "a.onnx.data", "b.onnx"], "nobody refers to it");
    assert!(payloads(&b) == expected);
}

#[test]
fn data_is_never_written_over() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.onnx"), folder.path().join("b.onnx"));
    let options = SaveOptions {
        storage: Storage::External(ExternalPolicy::default()),
        ..SaveOptions::default()
    };
    let saved = |path: &Path, seed: u8| {
        let bytes: Vec<u8> = noise(5000).iter().map(|byte| byte.wrapping_add(seed)).collect();
        let made = model(vec![raw("r", bytes.clone())]);
        save(&made, &ExternalFiles::none(), path, &options).unwrap();
        assert!(payloads(path) == [bytes]);
    };
    saved(&a, 0);
    fs::copy(&a, &b).unwrap();
    let held = File::open(folder.path().join("a.onnx.data")).unwrap();
    // The first data stays where another model refers to it.
    saved(&a, 1);
    assert!(payloads(&b) == [noise(5000)]);
    let found = names(folder.path());
    assert_eq!(found.len(), 4, "{found:?}");
    // A writer that was ended between the data and the model left data that nobody refers to; the
    // same data is taken, other data of ours is not touched.
    saved(&a, 2);
    saved(&a, 1);
    assert_eq!(names(folder.path()), found, "the same model has the same files");
    fs::remove_file(&b).unwrap();
    // Nobody refers to the first name any more, but nobody of ours knows whose it is.
    saved(&a, 3);
    assert!(folder.path().join("a.onnx.data").exists());
    assert_eq!(held.metadata().unwrap().len(), 5000);
}

#[test]
fn who_comes_second_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.onnx");
    let before = Some(Identity::of(&path));
    let options = SaveOptions { before, ..SaveOptions::default() };
    let made = model(vec![raw("r", noise(2000))]);
    save(&made, &ExternalFiles::none(), &path, &options).unwrap();
    let error = save(&made, &ExternalFiles::none(), &path, &options).unwrap_err().to_string();
    assert!(error.contains("another program wrote it meanwhile"), "{error}");
    let external = Storage::External(ExternalPolicy::default());
    let options = SaveOptions { before, storage: external, ..SaveOptions::default() };
    assert!(save(&made, &ExternalFiles::none(), &path, &options).is_err());
    assert_eq!(names(folder.path()), ["a.onnx"]);
}

#[test]
fn many_writers_leave_one_whole_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.onnx");
    let options = SaveOptions {
        storage: Storage::External(ExternalPolicy::default()),
        ..SaveOptions::default()
    };
    let bytes = |seed: usize| vec![seed as u8 + 1; 3000];
    let done = AtomicBool::new(false);
    let won = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                // Between opening the model and its data, the data may go; it is never another.
                let Ok(found) = open(&path) else { continue };
                let tensor = &found.model.graph.as_ref().unwrap().initializer[0];
                if let Ok(found) = bytes_of(tensor, &found.files) {
                    assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
                }
            }
        });
        let save_one = |seed| {
            let made = model(vec![raw("r", bytes(seed))]);
            (0..20).filter(|_| save(&made, &ExternalFiles::none(), &path, &options).is_ok()).count()
        };
        let writers: Vec<_> = (0..4).map(|seed| scope.spawn(move || save_one(seed))).collect();
        let won: usize = writers.into_iter().map(|writer| writer.join().unwrap()).sum();
        done.store(true, Ordering::Relaxed);
        watch.join().unwrap();
        won
    });
    assert!(won > 0);
    let found = payloads(&path);
    assert!((0..4).any(|seed| found == [bytes(seed)]));
    let data = names(folder.path()).iter().filter(|name| name.ends_with(".data")).count();
    assert_eq!((names(folder.path()).len(), data), (2, 1), "{:?}", names(folder.path()));
}

#[test]
fn the_data_of_another_model_is_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let (a, b) = (folder.path().join("a.onnx"), folder.path().join("b.onnx"));
    let policy = ExternalPolicy { threshold: 1, location: Some("b.onnx.data".into()) };
    let options = SaveOptions { storage: Storage::External(policy), ..SaveOptions::default() };
    save(&model(vec![raw("r", noise(2000))]), &ExternalFiles::none(), &a, &options).unwrap();
    let mut loaded = open(&a).unwrap();
    loaded.model.graph.as_mut().unwrap().initializer.push(raw("s", vec![1; 3000]));
    save(&loaded.model, &loaded.files, &b, &SaveOptions::default()).unwrap();
    let found = names(folder.path());
    assert_eq!(found.len(), 4);
    assert!(found[2].starts_with("b.onnx.") && found[2].len() == "b.onnx..data".len() + 16);
    assert_eq!([&found[0], &found[1], &found[3]], ["a.onnx", "b.onnx", "b.onnx.data"]);
    assert!(payloads(&a) == [noise(2000)]);
    assert!(payloads(&b) == [noise(2000), vec![1; 3000]]);
}

#[test]
fn a_failed_save_leaves_the_old_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.onnx");
    let options = SaveOptions {
        storage: Storage::External(ExternalPolicy::default()),
        ..SaveOptions::default()
    };
    save(&model(vec![raw("r", noise(2000))]), &ExternalFiles::none(), &path, &options).unwrap();
    let before = payloads(&path);
    let body = GraphProto {
        initializer: vec![external("lost", 2000, &[("location", "nowhere")])],
        ..<_>::default()
    };
    let attribute = AttributeProto { g: Some(Box::new(body)), ..<_>::default() };
    let node = NodeProto { attribute: vec![<_>::default(), attribute], ..<_>::default() };
    let mut broken = model(vec![raw("r", noise(9000))]);
    broken.graph.as_mut().unwrap().node = vec![<_>::default(), node];
    let files = ExternalFiles::in_folder(folder.path());
    let error = save(&broken, &files, &path, &options).unwrap_err().to_string();
    let place = "graph.node[1].attribute[1].g.initializer[0]: tensor `lost`: cannot open";
    assert!(error.starts_with(place), "{error}");
    assert!(payloads(&path) == before);
    assert_eq!(names(folder.path()), ["a.onnx", "a.onnx.data"]);
    let nowhere = folder.path().join("none/b.onnx");
    assert!(save(&broken, &files, nowhere, &SaveOptions::default()).is_err());
}

#[test]
fn what_is_not_a_model_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.onnx");
    for (bytes, expected) in [
        (&b""[..], "found a message without a graph"),
        (b"\x89PNG\r\n", "not a well-formed ONNX model: byte 0"),
        (b"\x3a\x7f", "byte 0 (graph): expected 127 more bytes of the message, found 0"),
    ] {
        fs::write(&path, bytes).unwrap();
        let error = open(&path).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("x.onnx"), "{error}");
    }
    let error = open(folder.path().join("none")).unwrap_err().to_string();
    assert!(error.starts_with("cannot open"), "{error}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Whatever stands in a tensor, what is read agrees with its dimensions.
    #[test]
    fn any_tensor_is_read_or_refused(
        code in -1..31,
        dims in prop::collection::vec(prop_oneof![0i64..4, Just(-1), any::<i64>()], 0..4),
        int32_data in prop::collection::vec(prop_oneof![0..64, any::<i32>()], 0..9),
        float_data in prop::collection::vec(any::<f32>(), 0..3),
        raw_data in prop::option::of(prop::collection::vec(any::<u8>(), 0..9)),
        offset in prop::option::of("[0-9-]{0,22}"),
    ) {
        let mut tensor = external("t", 1, &[("location", "w"), ("offset", "0")]);
        tensor.external_data[1].value = offset.clone();
        tensor.data_location = offset.map(|_| 1);
        (tensor.data_type, tensor.dims, tensor.int32_data) = (Some(code), dims, int32_data);
        (tensor.float_data, tensor.raw_data) = (float_data, raw_data.map(Bytes::from));
        if let Ok(TensorBytes { data_type, dims, elements }) =
            tensor_bytes(&tensor, &ExternalFiles::in_folder("/"))
        {
            let count = dims.iter().product::<usize>() as u64;
            let found = match elements {
                Elements::Bytes(bytes) => Some(bytes.len() as u64),
                Elements::Strings(strings) => {
                    prop_assert_eq!(strings.len() as u64, count);
                    None
                }
            };
            prop_assert_eq!(found, byte_len(data_type, count));
        }
    }
}

/// Anonymous memory of this process, in bytes, if the system tells.
fn anonymous() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

#[test]
fn three_gigabytes_of_weights_stay_on_the_disk() {
    const LEN: u64 = 3 << 30;
    let folder = tempfile::tempdir().unwrap();
    let weights = folder.path().join("w");
    File::create(&weights).unwrap().set_len(LEN).unwrap();
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::blocks(&fs::metadata(&weights).unwrap()) > 1 << 16 {
        println!("skipped: needs sparse files");
        return;
    }
    let Some(before) = anonymous() else {
        println!("skipped: needs /proc/self/status");
        return;
    };
    let (path, copy) = (folder.path().join("a.onnx"), folder.path().join("b.onnx"));
    let source = model(vec![external("w", LEN as i64, &[("location", "w")])]);
    fs::write(&path, source.encode_to_vec()).unwrap();
    let loaded = open(&path).unwrap();
    let done = AtomicBool::new(false);
    let peak = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut peak = before;
            while !done.load(Ordering::Relaxed) {
                peak = peak.max(anonymous().unwrap_or(0));
                std::thread::sleep(Duration::from_millis(2));
            }
            peak
        });
        let saved = save(&loaded.model, &loaded.files, &copy, &SaveOptions::default());
        done.store(true, Ordering::Relaxed);
        saved.unwrap();
        watch.join().unwrap()
    });
    let grown = peak - before;
    assert!(grown < 64 << 20, "grew by {grown} bytes");
    assert_eq!(payloads(&copy)[0].len() as u64, LEN);
    let inline = SaveOptions { storage: Storage::Inline, ..SaveOptions::default() };
    let error = save(&loaded.model, &loaded.files, &copy, &inline).unwrap_err();
    assert!(matches!(error, FileError::TooLarge { found, .. } if found > LEN), "{error}");
}

/// Prints how long a model of 10,000 nodes takes; run it in the release profile.
#[test]
#[ignore = "measures"]
fn measure_ten_thousand_nodes() {
    let node = |index: usize| NodeProto {
        input: vec![format!("value_{index}"), format!("weight_{index}")],
        output: vec![format!("value_{}", index + 1)],
        name: Some(format!("/layer/{index}/Conv")),
        op_type: Some("Conv".into()),
        attribute: ["kernel_shape", "pads", "strides"]
            .map(|name| AttributeProto {
                name: Some(name.into()),
                ints: vec![1, 1, 1, 1],
                r#type: Some(AttributeType::Ints as i32),
                ..<_>::default()
            })
            .into(),
        ..<_>::default()
    };
    let mut model = model((0..10_000).map(|i| raw(&format!("weight_{i}"), vec![1; 64])).collect());
    model.graph.as_mut().unwrap().node = (0..10_000).map(node).collect();
    let bytes = Bytes::from(model.encode_to_vec());
    if let Some(path) = std::env::var_os("TANGRAM_MEASURED_MODEL") {
        fs::write(path, &bytes).unwrap();
    }
    let timed = |name: &str, work: &dyn Fn()| {
        let times = (0..15).map(|_| {
            let start = std::time::Instant::now();
            work();
            start.elapsed()
        });
        println!("{name}: {:?}", times.min());
    };
    println!("{} bytes", bytes.len());
    println!(
        "{} bytes an attribute, {} a tensor",
        size_of::<AttributeProto>(),
        size_of::<TensorProto>()
    );
    timed("scan", &|| drop(scan(&bytes, schema::Message::Model)));
    timed("decode", &|| drop(decode(bytes.clone())));
    timed("decode, not dropped", &|| std::mem::forget(decode(bytes.clone())));
    timed("clone", &|| drop(model.clone()));
    timed("encode", &|| encode(&model, &mut std::io::sink()).unwrap());
}
