import Glibc

/// Runs `body` without root's rights if the tests have them, since root may write any file.
func withoutPrivileges(_ body: () -> Void) {
    // The system call for this thread alone. Glibc has it, but Swift's Glibc module does not: int setfsuid(uid_t).
    typealias SetFileSystemUser = @convention(c) (uid_t) -> CInt
    let set = unsafeBitCast(dlsym(nil, "setfsuid"), to: SetFileSystemUser.self)
    let nobody: uid_t = 65534
    let user = set(nobody)
    defer { _ = set(uid_t(user)) }
    body()
}
