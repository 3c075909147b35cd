/// What is wrong with a query.
public enum SearchQueryError: Error, Sendable, Equatable {
    /// It has no word.
    case empty
    /// It has more than ``SearchQuery/maximumTerms``.
    case tooManyTerms
    /// A term has more than ``SearchQuery/maximumTermCharacters``.
    case termTooLong
    /// A phrase or word consists of nothing but spaces and invisible characters.
    case emptyTerm
    /// A phrase has no closing quotation mark.
    case unclosedPhrase
    /// A `-` is followed by no word.
    case missingExclusion
    /// All words are excluded.
    case onlyExclusions
    /// It has no letter, digit or symbol to look up.
    case nothingIndexed

    /// What is wrong and what a query needs, for people.
    public var detail: String {
        switch self {
        case .empty: "A query needs at least one word."
        case .tooManyTerms: "A query has at most \(SearchQuery.maximumTerms) words and phrases."
        case .termTooLong:
            "A word or phrase of a query has at most \(SearchQuery.maximumTermCharacters) characters."
        case .emptyTerm: "A word or phrase of a query needs a visible character."
        case .unclosedPhrase: "A phrase needs a closing quotation mark."
        case .missingExclusion: "A \"-\" must be followed by the word that it excludes."
        case .onlyExclusions: "A query needs a word that is not excluded by \"-\"."
        case .nothingIndexed: "A query needs a word with a letter, a digit or a symbol beyond ASCII, such as an emoji."
        }
    }
}
