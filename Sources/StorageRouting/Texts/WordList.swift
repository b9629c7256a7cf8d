internal import Foundation

/// Words of texts, each as a ``ComparisonKey``, text behind text.
///
/// Isolation: not `Sendable`; one owner uses it.
final class WordList {
    private struct Word {
        let start: Int
        let count: Int
    }

    private let buffer = KeyBuffer()
    private var words: [Word] = []
    /// The index of each text's first word.
    private var texts: [Int] = []
    /// Whether several words share a position, as with tokenizers that add synonyms.
    private(set) var hasSynonyms = false

    /// FTS5 cuts words that are longer.
    private static let longest = 32_768

    func removeAll() {
        buffer.removeAll()
        words.removeAll(keepingCapacity: true)
        texts.removeAll(keepingCapacity: true)
        hasSynonyms = false
    }

    /// Words that follow belong to another text: a phrase never goes from one to the next.
    func beginText() { texts.append(words.count) }

    func add(_ word: UnsafeRawBufferPointer, hasPosition: Bool) {
        if !hasPosition { hasSynonyms = true }
        let start = buffer.count
        buffer.append(ComparisonKey.Kind.text)
        buffer.append(UnsafeRawBufferPointer(rebasing: word.prefix(Self.longest)))
        words.append(Word(start: start, count: buffer.count - start))
    }

    var count: Int { words.count }

    /// Valid until a word is added.
    @inline(__always)
    subscript(index: Int) -> UnsafeRawBufferPointer { buffer.bytes(at: words[index].start, count: words[index].count) }

    /// Whether words are adjacent in a text; if the last one is a prefix, a word that begins with it suffices.
    func holds(_ phrase: [[UInt8]], isPrefix: Bool) -> Bool {
        for (number, first) in texts.enumerated() {
            let end = number + 1 < texts.count ? texts[number + 1] : words.count
            guard end - first >= phrase.count else { continue }
            for start in first...(end - phrase.count) where fits(phrase, isPrefix, at: start) { return true }
        }
        return false
    }

    private func fits(_ phrase: [[UInt8]], _ isPrefix: Bool, at start: Int) -> Bool {
        for (index, wanted) in phrase.enumerated() {
            let word = self[start + index]
            let mayBeLonger = isPrefix && index == phrase.count - 1
            guard mayBeLonger ? word.count >= wanted.count : word.count == wanted.count else { return false }
            let isSame = wanted.withUnsafeBytes { memcmp($0.baseAddress!, word.baseAddress!, $0.count) == 0 }
            guard isSame else { return false }
        }
        return true
    }
}
