import StorageCore
import Testing

/// P9: no text ends the quotes around it.
struct QuoteTests {
    @Test(
        "Every quote is doubled, also under a combining mark",
        arguments: ["\"", "a\"b", "\"\u{301}", "x\"\u{611} y", "\"\"\u{200d}"])
    func quotesAreDoubled(text: String) {
        let quotes = text.unicodeScalars.filter { $0 == "\"" }.count
        #expect(text.doublingQuotes.unicodeScalars.filter { $0 == "\"" }.count == 2 * quotes)
        let search = SearchExpression.words(text, isPrefix: false).text
        #expect(search.unicodeScalars.filter { $0 == "\"" }.count == 2 * quotes + 2)
    }
}
