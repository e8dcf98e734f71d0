//! What messages quote of files: a C file may include any file that its reader can read, so only
//! what lies in the folder of the C file, or below it, is quoted.

use std::path::Path;

use tangram_scop::Problem;

/// The message of a problem; of a file from elsewhere without what stands there.
pub(crate) fn message(problem: &Problem, source: &Path) -> String {
    match &problem.file {
        Some(file) if !is_near(file, source) => without_quotes(&problem.message),
        _ => problem.message.clone(),
    }
}

/// What the preprocessor says, without lines of files from elsewhere and what it quotes of them.
pub(super) fn reasons(said: &str, source: &Path) -> String {
    let (mut kept, mut near) = (String::new(), true);
    for line in said.lines() {
        let place = placed(line);
        if let Some((file, _)) = place {
            near = is_near(file, source);
        }
        let shown = match place {
            _ if near => line.to_owned(),
            Some((file, rest)) => format!("{file}:{rest}: it does not read as C"),
            // The line that the message is about, and the marks below it.
            None if !line.starts_with("In file included from") => continue,
            None => line.to_owned(),
        };
        kept.push_str(&shown);
        kept.push('\n');
    }
    kept
}

/// The file of `file:line:column: kind: message`, and its line.
fn placed(line: &str) -> Option<(&str, &str)> {
    let (file, rest) = line.split_once(':')?;
    let (number, _) = rest.split_once(':')?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && !file.starts_with("In file included from")).then_some((file, number))
}

fn is_near(file: &str, source: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().ok();
    let (Some(file), Some(source)) = (real(Path::new(file)), real(source)) else {
        // Names that are no files, as those of what is built in, have nothing to quote.
        return real(Path::new(file)).is_none();
    };
    source.parent().is_some_and(|folder| file.starts_with(folder))
}

/// A message without what stands between backquotes.
fn without_quotes(message: &str) -> String {
    let parts = message.split('`').enumerate();
    parts.map(|(at, part)| if at % 2 == 0 { part } else { "..." }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_lies_near_is_quoted() -> std::io::Result<()> {
        let folder = tangram_files::Scratch::new()?;
        let other = tangram_files::Scratch::new()?;
        let (source, near) = (folder.path().join("a.c"), folder.path().join("a.h"));
        let far = other.path().join("secret");
        for path in [&source, &near, &far] {
            tangram_files::write(path, "")?;
        }
        let (near, far) = (near.display().to_string(), far.display().to_string());
        let said = format!(
            "In file included from a.c:1:\n{far}:1:3: error: invalid directive #word\n    1 | # word\n\
             {near}:2:1: error: unknown name\n    2 | name\n"
        );
        let told = reasons(&said, &source);
        assert!(
            !told.contains("word") && told.contains("secret:1: it does not read as C"),
            "{told}"
        );
        assert!(told.contains("    2 | name") && told.contains("In file included from"), "{told}");
        let problem = |file: &str| Problem {
            line: 1,
            column: 2,
            message: "expected C11, found `word`".to_owned(),
            file: Some(file.to_owned()),
        };
        assert_eq!(message(&problem(&far), &source), "expected C11, found ...");
        assert_eq!(message(&problem(&near), &source), "expected C11, found `word`");
        Ok(())
    }
}
