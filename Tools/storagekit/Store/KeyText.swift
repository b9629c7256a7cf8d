import StorageCore

/// A row's key as one text: of several parts, they are separated by commas, and a comma inside of a part is `%2C`.
enum KeyText {
    static func text(of key: [StorageValue]) -> String {
        guard key.count > 1 else { return key.first?.plainText ?? "" }
        return key.map { escaped($0.plainText) }.joined(separator: ",")
    }

    /// The parts of a key of several columns.
    static func parts(of text: String) -> [String] {
        text.split(separator: ",", omittingEmptySubsequences: false).map { decoded(String($0)) }
    }

    static func decoded(_ part: String) -> String {
        // The percent sign last, so that what it yields isn't looked at again.
        part.replacing("%2C", with: ",").replacing("%2c", with: ",").replacing("%25", with: "%")
    }

    private static func escaped(_ part: String) -> String {
        part.contains(",") || part.contains("%2") ? part.replacing("%", with: "%25").replacing(",", with: "%2C") : part
    }
}
