import Testing

@testable import Server

@Suite struct LabelSetTests {
    private func text(_ dimensions: [(String, String)], ofHistogram: Bool = false) -> String {
        String(decoding: LabelSet(dimensions, ofHistogram: ofHistogram).bytes, as: UTF8.self)
    }

    @Test func `labels are sorted by name`() {
        #expect(text([("b", "2"), ("a", "1")]) == #"a="1",b="2""#)
        #expect(LabelSet([("b", "2"), ("a", "1")]) == LabelSet([("a", "1"), ("b", "2")]))
        #expect(LabelSet([("a", "1")]) < LabelSet([("a", "2")]))
    }

    @Test func `values are escaped and otherwise unchanged`() {
        #expect(text([("a", "x\"y\\z\n\t😀")]) == "a=\"x\\\"y\\\\z\\n\t😀\"")
    }

    @Test func `values that only look equal are different`() {
        #expect(LabelSet([("a", "\u{E9}")]) != LabelSet([("a", "e\u{301}")]))
    }

    @Test func `an empty value is no label`() {
        #expect(text([("a", ""), ("b", "1")]) == #"b="1""#)
        #expect(text([]) == "")
    }

    @Test func `of two labels with one name the last counts`() {
        #expect(text([("a.b", "1"), ("a_b", "2")]) == #"a_b="2""#)
        #expect(text([("a", "1"), ("a", "")]) == "")
    }

    @Test func `a histogram's own label is reserved`() {
        #expect(text([("le", "1")], ofHistogram: true) == #"exported_le="1""#)
        #expect(text([("le", "1")]) == #"le="1""#)
    }
}
