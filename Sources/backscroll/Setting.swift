import ArgumentParser
import Server
import Transport

/// The value of an option of `serve` that goes into the server's configuration.
///
/// Such an option is declared once, by a property of ``ServeCommand``. Its name and its environment variable follow from
/// the property's name. The declaration has its place in the configuration, its bounds and its help. Its default is the
/// one that the configuration has at that place.
struct Setting: Sendable {
    /// Puts the value into a configuration.
    let apply: @Sendable (inout ServerConfiguration) -> Void
    /// The end of the sentence that begins with the option and refuses the value: "must be …". Nil for a valid value.
    let refusal: String?

    /// A place in the configuration.
    typealias Place<Content> = any WritableKeyPath<ServerConfiguration, Content> & Sendable

    /// The value of an option that is not given.
    fileprivate static let none = Setting(apply: { _ in }, refusal: nil)

    private init(apply: @escaping @Sendable (inout ServerConfiguration) -> Void, refusal: String?) {
        self.apply = apply
        self.refusal = refusal
    }

    /// Creates the value of an option.
    ///
    /// - Parameters:
    ///   - content: The meaning of the text; `nil` if it has none.
    ///   - requirement: The rule that the text must satisfy, for the error.
    fileprivate init<Content: Sendable>(
        _ text: String, _ content: Content?, in place: Place<Content>, mustBe requirement: String
    ) {
        if let content {
            self.init(apply: { $0[keyPath: place] = content }, refusal: nil)
        } else {
            self.init(apply: { _ in }, refusal: "must be \(requirement), not '\(text)'.")
        }
    }

    /// Creates an element of a list, or several that are given with commas.
    fileprivate init<Element: Sendable>(
        _ parts: [Substring], elementsOf place: Place<[Element]>, mustBe requirement: String = "",
        read: (String) -> Element?
    ) {
        let elements = parts.compactMap { read(String($0)) }
        let wrong = parts.first { read(String($0)) == nil }
        self.init(
            apply: { $0[keyPath: place] += elements }, refusal: wrong.map { "must be \(requirement), not '\($0)'." })
    }
}

/// Declarations of options by their place in the configuration.
extension Option<Setting> {
    /// Declares an option with a value that `read` understands.
    ///
    /// - Parameters:
    ///   - requirement: The rule that the value must satisfy, for the error.
    ///   - shown: The default as the help shows it; `nil` if there is none, or the help tells.
    private init<Content: Sendable>(
        _ place: Setting.Place<Content>, _ help: String, _ valueName: String?, mustBe requirement: String,
        shown: String?, read: @escaping @Sendable (String) -> Content?
    ) {
        // ArgumentParser shows no default of an option with a transform.
        self.init(
            wrappedValue: .none,
            help: ArgumentHelp(help + (shown.map { " (default: \($0))" } ?? ""), valueName: valueName),
            transform: { Setting($0, read($0), in: place, mustBe: requirement) })
    }

    /// Declares an option with a text.
    init(_ place: Setting.Place<String>, _ help: String, valueName: String? = nil) {
        self.init(place, help, valueName, mustBe: "a text", shown: ServeCommand.defaults[keyPath: place]) { $0 }
    }

    /// Declares an option with a whole number.
    ///
    /// - Parameter showsDefault: False if the default is not the same number on every machine.
    init(
        _ place: Setting.Place<Int>, in range: ClosedRange<Int>, showsDefault: Bool = true, _ help: String,
        valueName: String? = nil
    ) {
        let shown = showsDefault ? String(ServeCommand.defaults[keyPath: place]) : nil
        self.init(place, help, valueName, mustBe: range.bounds, shown: shown) { text in
            Int(text).flatMap { range.contains($0) ? $0 : nil }
        }
    }

    /// Declares an option with a whole number that has no default.
    init(_ place: Setting.Place<Int?>, in range: ClosedRange<Int>, _ help: String, valueName: String? = nil) {
        self.init(place, help, valueName, mustBe: range.bounds, shown: nil) { text in
            Int(text).flatMap { range.contains($0) ? .some($0) : nil }.map { .some($0) }
        }
    }

    /// Declares an option with a time in seconds, optionally with a fraction, from 0.1 to a day.
    init(_ place: Setting.Place<Duration>, _ help: String, valueName: String? = nil) {
        let usual = ServeCommand.defaults[keyPath: place] / .seconds(1)
        let shown = usual == usual.rounded() ? String(Int(usual)) : String(usual)
        self.init(place, help, valueName, mustBe: "from 0.1 to 86400 seconds", shown: shown) { text in
            guard let seconds = Double(text), (0.1...86_400).contains(seconds) else { return nil }
            return .milliseconds(Int64((seconds * 1000).rounded()))
        }
    }

    /// Declares an option with a rate limit; most are off by default.
    init(_ place: Setting.Place<RateLimit?>, _ help: String, valueName: String? = nil) {
        let requirement = "a limit like 50/s or 50/s:200, per s, m or h, or off"
        self.init(
            place, help, valueName, mustBe: requirement,
            shown: ServeCommand.defaults[keyPath: place]?.description ?? "off"
        ) { text in
            text == "off" ? .some(nil) : RateLimit(text).map { .some($0) }
        }
    }

    /// Declares an option with an address to listen on, which has no default.
    init(_ place: Setting.Place<ListenAddress?>, _ help: String, valueName: String? = nil) {
        self.init(place, help, valueName, mustBe: "an address like 127.0.0.1:9090", shown: nil) { text in
            ListenAddress(text).map { .some($0) }
        }
    }
}

extension Option<[Setting]> {
    /// Declares an option with texts, which can be repeated, or given with commas.
    init(_ place: Setting.Place<[String]>, _ help: String, valueName: String? = nil) {
        self.init(
            wrappedValue: [], help: ArgumentHelp(help, valueName: valueName),
            transform: { Setting($0.split(separator: ","), elementsOf: place) { $0 } })
    }

    /// Declares an option with ranges of addresses, which can be repeated, or given with commas.
    init(_ place: Setting.Place<[IPRange]>, _ help: String, valueName: String? = nil) {
        let requirement = "an IP address or a range like 10.0.0.0/8 or fd00::/8, with no bits set beyond the prefix"
        self.init(
            wrappedValue: [], help: ArgumentHelp(help, valueName: valueName),
            transform: {
                Setting(
                    $0.split(separator: ",", omittingEmptySubsequences: false), elementsOf: place,
                    mustBe: requirement, read: IPRange.init)
            })
    }
}

extension ClosedRange<Int> {
    /// The bounds, for errors: "from 0 to 65535".
    fileprivate var bounds: String { "from \(lowerBound) to \(upperBound)" }
}
