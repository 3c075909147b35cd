public import HTTPTypes

extension HTTPFields {
    /// The value of the first field with this name, without joining it with those that follow.
    public func first(_ name: HTTPField.Name) -> String? {
        for index in indices where self[index].name == name { return self[index].value }
        return nil
    }

    /// How many fields have this name. Of a field that may occur once, two make neither of them trustworthy.
    public func count(of name: HTTPField.Name) -> Int {
        var count = 0
        for index in indices where self[index].name == name { count += 1 }
        return count
    }

    /// Whether a list field has `element`, in any of its lines and in any case.
    public func lists(_ element: String, in name: HTTPField.Name) -> Bool {
        for index in indices where self[index].name == name {
            for listed in ListElements(self[index].value) where listed.equals(ignoringASCIICase: element) {
                return true
            }
        }
        return false
    }

    /// The elements of a list field, of all its lines in order.
    public func elements(of name: HTTPField.Name) -> [Substring] {
        indices.reduce(into: []) { elements, index in
            if self[index].name == name { elements += ListElements(self[index].value) }
        }
    }
}
