/// Names in the form that Prometheus allows ("Data model: Metric names and labels").
enum MetricName {
    /// Returns the name of a metric, `[a-zA-Z_:][a-zA-Z0-9_:]*`. Other characters of `label` become underscores.
    ///
    /// So `http.requests` and `http_requests` are one metric.
    static func metric(_ label: String) -> String {
        sanitized(label, colon: true)
    }

    /// Returns the name of a label, `[a-zA-Z_][a-zA-Z0-9_]*`, in the same way. Names with two leading underscores are
    /// reserved for Prometheus (`__name__`, for example), so only one is kept.
    static func label(_ name: String) -> String {
        let sanitized = sanitized(name, colon: false)
        return sanitized.hasPrefix("__") ? "_" + sanitized.drop { $0 == "_" } : sanitized
    }

    private static func sanitized(_ text: String, colon: Bool) -> String {
        var name = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": name.unicodeScalars.append(scalar)
            case ":" where colon: name.unicodeScalars.append(scalar)
            case "0"..."9":
                if name.isEmpty { name = "_" }
                name.unicodeScalars.append(scalar)
            default: name.append("_")
            }
        }
        return name.isEmpty ? "_" : name
    }
}
