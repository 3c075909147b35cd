import Glibc

/// Runs `body` without the rights of root, if the tests have them: root may write to what nobody may.
func withoutPrivileges(_ body: () -> Void) {
    // The kernel's call, of this thread alone, which glibc has and Swift's Glibc module leaves out; its C declaration is
    // int setfsuid(uid_t).
    typealias SetFileSystemUser = @convention(c) (uid_t) -> CInt
    let set = unsafeBitCast(dlsym(nil, "setfsuid"), to: SetFileSystemUser.self)
    let nobody: uid_t = 65534
    let user = set(nobody)
    defer { _ = set(uid_t(user)) }
    body()
}
