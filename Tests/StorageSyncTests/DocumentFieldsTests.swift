import Testing

@testable import StorageSync

/// Documents as they are compared and sent.
struct DocumentFieldsTests {
    @Test("A key may begin with a combining mark")
    func combiningMark() throws {
        let key = "\u{301}x"
        let fields = try DocumentFields(json: "{\"" + key + "\":1}")
        #expect(fields.values.keys.map { Array($0.utf8) } == [Array(key.utf8)])
        #expect(try DocumentFields(json: fields.json) == fields)
    }

    @Test("Values are equal if their bytes are")
    func spellings() {
        let composed = DocumentFields(["name": "\"\u{e9}\""])
        let decomposed = DocumentFields(["name": "\"e\u{301}\""])
        #expect(composed != decomposed)
        #expect(decomposed.patch(from: composed).count == 1)
        #expect(composed.patch(from: composed).isEmpty)
        #expect(DocumentFields(["name": "1"]) != DocumentFields(["name": "1", "price": "2"]))
        #expect(DocumentFields(["name": "1"]) != DocumentFields(["price": "1"]))
    }
}
