/// The version of this program.
public enum Version {
    /// The version: major.minor.patch. `scripts/test-operations` finds the other places that name it.
    public static let current = "0.2.0"
}
