//! Pictures in `docs/loops-from-c.md` of trees that are read from its C.

mod support;

use support::marked;

#[test]
fn the_product_of_the_page_has_its_picture() {
    let docs = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let page = std::fs::read_to_string(docs.join("loops-from-c.md")).expect("the page");
    let start = page.find("## Contractions").expect("the section");
    let code = page[start..].split("```c\n").nth(1).and_then(|rest| rest.split("```").next());
    let loops = code.expect("the product");
    let text = format!(
        "void gemm(int n, int m, int p, double alpha, double beta, double C[n][m], double A[n][p], \
         double B[p][m])\n{{\n#pragma scop\n{loops}#pragma endscop\n}}\n"
    );
    let parts = marked(&text);
    let drawn = parts[0].scop.schedule.to_svg();
    let path = docs.join("pictures/c-gemm.svg");
    if std::env::var("BLESS").is_ok() {
        std::fs::write(&path, &drawn).expect("written");
    }
    assert!(page.contains("(pictures/c-gemm.svg)"));
    assert!(std::fs::read_to_string(&path).is_ok_and(|old| old == drawn), "{}", path.display());
}
