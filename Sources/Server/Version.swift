/// The version of this program.
public enum Version {
    /// The version: major.minor.patch.
    public static let current = "0.1.0"
}
