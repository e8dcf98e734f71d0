//! Members of structures as arrays, variables and parameters of their own.

mod support;

use support::{PRINTF, budget, detected, in_tiles, marked, print_the_same};
use tangram_polyhedral::scop::{Basis, Kind};
use tangram_scop::{Part, parts};

const TYPES: &str = "typedef float real;
typedef struct { unsigned n, m; real *a, *restrict b; double w[20]; int count; } net;
struct point { double x, y; int k[3]; struct { double z; } in; };
typedef struct point points[12];
union both { double d; int i; };
struct bits { int a : 3, b : 5; };
";

#[test]
fn members_compute_the_same() {
    let text = format!(
        "{PRINTF}{TYPES}static real A[400], B[20];
static points P;
static struct {{ int h, w; struct point pix[6][5]; }} image;
static double out[400];
static void f(net *s, struct point *p, int n) {{
#pragma scop
  for (unsigned i = 0; i < s->n; i++)
    for (int j = 0; j < s->m; j++) {{
      s->a[j * s->n + i] += s->b[j] * s->w[j];
      s->count += 1;
      (*s).w[j] += 0.5;
    }}
  for (int i = 1; i < n; i++) {{
    p[i].x += p[i - 1].y * 2;
    p->y += p[i].x + P[i].k[i % 3];
    P[i].k[0] += 1;
  }}
  for (int y = 0; y < image.h; y++)
    for (int x = 1; x < image.w; x++) {{
      image.pix[y][x].x = image.pix[y][x - 1].x + y;
      out[y * image.w + x] += image.pix[y][x].x + s->count;
    }}
  for (int i = 0; i < s->m; i++)
    if (s->w[i] > 3) {{ s->w[i] -= 3; out[i] += s->n; }}
#pragma endscop
}}
int main(void) {{
  net s = {{9, 7, A, B, {{1, 2, 3}}, 5}};
  static points q;
  image.h = 6, image.w = 5;
  for (int i = 0; i < 400; i++) A[i] = i % 7;
  for (int i = 0; i < 20; i++) B[i] = i % 5 + 1;
  for (int i = 0; i < 12; i++) q[i].x = i, q[i].y = 3 - i, P[i].k[1] = i;
  f(&s, q, 12);
  double r = s.count;
  for (int i = 0; i < 400; i++) r = r * 1.001 + A[i] + out[i];
  for (int i = 0; i < 20; i++) r = r * 1.01 + s.w[i];
  for (int i = 0; i < 12; i++) r = r * 1.01 + q[i].x + q[i].y + P[i].k[0];
  for (int i = 0; i < 30; i++) r = r * 1.01 + image.pix[i / 5][i % 5].x;
  printf(\"%.17g\\n\", r);
}}
"
    );
    let found = marked(&text);
    let named: Vec<&str> = found[0].members.iter().map(|member| member.text.as_str()).collect();
    let expected = ["s->n", "s->a", "s->w", "p[].x", "P[].k", "image.w", "image.pix[].x"];
    assert!(expected.iter().all(|text| named.contains(text)), "{named:?}");
    print_the_same("members", &text, &in_tiles(&text, &found));
}

#[test]
fn members_beside_each_other_are_apart() {
    let text = format!(
        "{TYPES}void f(int n, struct point *p, net *s, real *q) {{
  for (int i = 1; i < n; i++) {{ p[i].x = p[i - 1].y; s->a[i] += s->b[i]; }}
  for (int i = 0; i < s->m; i++) q[i] = 0;
}}"
    );
    let part = detected(&text).parts.remove(0);
    let flow = part.scop.dependences(Kind::Flow, Basis::Value, &budget()).expect("decided");
    assert_eq!(flow.tagged.relations().count(), 0, "{}", flow.tagged);
    assert_eq!(part.distinct, ["p[].y", "p[].x", "s->a", "q"]);
}

/// Reads a part.
fn part(body: &str) -> Result<Part, String> {
    let text = format!(
        "{TYPES}void f(int n, struct point *p, struct point *o, net s, net *t, union both *u, \
         struct bits *b, double *x) {{\n#pragma scop\n{body}\n#pragma endscop\n}}\n"
    );
    let found = parts(&text, &budget()).map(|mut found| found.remove(0));
    found.map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// Lists the members that a part uses.
fn read(body: &str) -> Result<Vec<String>, String> {
    Ok(part(body)?.members.into_iter().map(|one| one.text).collect())
}

#[test]
fn what_shares_cells_stays_whole() {
    let whole = |body: &str| assert_eq!(read(body), Ok(Vec::new()), "{body}");
    whole("for (int i = 0; i < n; i++) { p[i].x = 1; p[i] = o[i]; }");
    whole("for (int i = 0; i < n; i++) { u[i].d = 1; x[i] = u[i].i; }");
    whole("for (int i = 0; i < n; i++) { b[i].a = 1; b[i].b = 2; }");
    whole("for (int i = 0; i < n; i++) { struct point q; q.x = i; x[i] = q.x; }");
    assert_eq!(read("for (int i = 0; i < n; i++) o[i].x = p[i].y;").map(|all| all.len()), Ok(2));
    // Both ways of writing it are of one array.
    let body = "for (int i = 0; i < n; i++) p[i].x = p->x + (*p).x;";
    assert_eq!(read(body).map(|all| all.len()), Ok(1));
}

#[test]
fn members_that_are_no_parameters_are_refused() {
    let refused = |body: &str, message: &str| {
        let problem = read(body).expect_err(body);
        assert!(problem.contains(message), "{body}: {problem}");
    };
    // `t` may lead nowhere where `n` is 0: then nothing may ask for its members.
    let depth = |body: &str| {
        let part = part(body).expect(body);
        part.scop.statements.iter().map(|s| s.domain.space().output.dims.len()).max()
    };
    let inner = "for (int i = 0; i < n; i++) for (int j = 0; j < t->n; j++) x[j] += i;";
    assert_eq!(depth(inner), Some(1));
    assert_eq!(depth(&inner.replace("t->n", "s.n")), Some(2));
    assert_eq!(depth(&format!("for (int i = 0; i < t->m; i++) x[i] = 0; {inner}")), Some(2));
    refused("for (int i = 0; i < s.count; i++) s.count -= 1;", "written inside the part");
    refused("for (int i = 0; i < s.w[0]; i++) x[i] = 0;", "not affine");
    refused("for (int i = 0; i < t->a; i++) x[i] = 0;", "not affine");
}
