internal import CSQLite
internal import Foundation
internal import StorageCore
internal import StorageLog

/// Splits texts into words as a full-text index does: with FTS5's own tokenizers, called without an index.
///
/// Isolation: not `Sendable`; it belongs to a ``RowLayout``.
final class TextTokenizer {
    enum Purpose {
        case row
        case query(isPrefix: Bool)

        fileprivate var flags: Int32 {
            switch self {
            case .row: FTS5_TOKENIZE_DOCUMENT
            case .query(let isPrefix): FTS5_TOKENIZE_QUERY | (isPrefix ? FTS5_TOKENIZE_PREFIX : 0)
            }
        }
    }

    /// Tokenizers belong to a connection; this one has nothing else to do.
    private let connection: Connection
    private var functions: fts5_tokenizer
    private let tokenizer: OpaquePointer

    /// - Parameter declaration: The tokenizer's name and options, as a full-text index is declared with.
    /// - Returns: Nil for a tokenizer that SQLite doesn't have.
    init?(_ declaration: String) {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
        guard let connection = try? Connection(opening: ":memory:", flags: flags, orFailWith: "") else { return nil }
        let words = Self.words(of: declaration)
        guard let api = Self.api(connection), let made = Self.make(words, api) else {
            connection.close()
            return nil
        }
        self.connection = connection
        (functions, tokenizer) = made
    }

    deinit {
        functions.xDelete(tokenizer)
        connection.close()
    }

    /// Adds the words of a text, in order.
    func cut(_ text: UnsafeRawBufferPointer, for purpose: Purpose, into words: WordList) {
        guard !text.isEmpty else { return }
        let context = Unmanaged.passUnretained(words).toOpaque()
        let start = text.baseAddress?.assumingMemoryBound(to: CChar.self)
        _ = functions.xTokenize(tokenizer, context, purpose.flags, start, Int32(text.count)) {
            context, flags, token, count, _, _ in
            guard let context else { return SQLITE_ERROR }
            Unmanaged<WordList>.fromOpaque(context).takeUnretainedValue()
                .add(
                    UnsafeRawBufferPointer(start: token, count: Int(count)),
                    hasPosition: flags & FTS5_TOKEN_COLOCATED == 0
                )
            return SQLITE_OK
        }
    }

    // MARK: Finding it

    private static func api(_ connection: Connection) -> UnsafeMutablePointer<fts5_api>? {
        var api: UnsafeMutablePointer<fts5_api>?
        var statement: OpaquePointer?
        defer { sqlite3_finalize(statement) }
        let code = sqlite3_prepare_v2(connection.handle, "SELECT fts5(?1)", -1, &statement, nil)
        guard code == SQLITE_OK else { return nil }
        // SQLite compares the name, and keeps its address as long as the statement lives.
        let name: StaticString = "fts5_api_ptr"
        return withUnsafeMutablePointer(to: &api) { pointer in
            name.withUTF8Buffer { name in
                name.withMemoryRebound(to: CChar.self) { name in
                    _ = sqlite3_bind_pointer(statement, 1, pointer, name.baseAddress, nil)
                    _ = sqlite3_step(statement)
                }
            }
            return pointer.pointee
        }
    }

    private static func make(
        _ words: [String], _ api: UnsafeMutablePointer<fts5_api>
    ) -> (fts5_tokenizer, OpaquePointer)? {
        var context: UnsafeMutableRawPointer?
        var functions = fts5_tokenizer()
        guard api.pointee.xFindTokenizer(api, words.first ?? "unicode61", &context, &functions) == SQLITE_OK
        else { return nil }
        let options = words.dropFirst().map { strdup($0) }
        defer { for option in options { free(option) } }
        var pointers = options.map { $0.map { UnsafePointer($0) } }
        var tokenizer: OpaquePointer?
        guard functions.xCreate(context, &pointers, Int32(pointers.count), &tokenizer) == SQLITE_OK else { return nil }
        return tokenizer.map { (functions, $0) }
    }

    /// A declaration's words; a quoted word may contain blanks and doubled quotes.
    private static func words(of declaration: String) -> [String] {
        var words: [String] = []
        var rest = Substring(declaration)
        while true {
            rest = rest.drop { $0 == " " }
            guard let first = rest.first else { return words }
            guard first == "'" else {
                let word = rest.prefix { $0 != " " }
                words.append(String(word))
                rest = rest[word.endIndex...]
                continue
            }
            var word = ""
            rest.removeFirst()
            while let character = rest.popFirst() {
                if character == "'" {
                    guard rest.first == "'" else { break }
                    rest.removeFirst()
                }
                word.append(character)
            }
            words.append(word)
        }
    }
}
