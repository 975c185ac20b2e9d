//! Processes with a clock that is wrong.

/// The path of the library in Debian's package `faketime`.
pub fn faketime() -> String {
    let libraries = std::fs::read_dir("/usr/lib").unwrap();
    let found = libraries
        .map(|entry| entry.unwrap().path().join("faketime/libfaketimeMT.so.1"))
        .find(|path| path.exists());
    let found = found.expect("faketime is installed (on Debian: apt-get install faketime)");
    found.to_str().unwrap().to_owned()
}

/// Environment variables that shift a process's clock by this offset. Timers are not affected.
pub fn set_by<'a>(library: &'a str, offset: &'a str) -> [(&'static str, &'a str); 3] {
    [
        ("LD_PRELOAD", library),
        ("FAKETIME", offset),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ]
}
