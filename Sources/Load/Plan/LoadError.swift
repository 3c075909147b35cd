/// The reason why a load test could not run, for the person who started it.
struct LoadError: Error, Equatable, CustomStringConvertible {
    /// One or more lines.
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
