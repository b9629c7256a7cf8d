/// Makes documents from a seed, out of a vocabulary whose words are as unequally common as those of real texts: the
/// word of rank `r` has the weight `1 / (r + 2.7)` (Zipf and Mandelbrot).
struct DocumentGenerator: Sendable {
    let seed: UInt64
    private let words: [String]
    /// All words, the commonest first.
    var vocabulary: [String] { words }
    /// The weights of all words up to each, to pick a word by bisection.
    private let weights: [Double]

    private static let vocabularySize = 12_000
    private static let commonWords = 100
    private static let consonants = Array("bcdfghklmnprstvw").map(String.init)
    private static let vowels = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
    private static let endings = ["", "", "", "n", "r", "s", "t", "ing", "ed", "er", "ly", "ion"]
    private static let firstUpdate: Int64 = 1_700_000_000_000_000

    init(seed: UInt64) {
        self.seed = seed
        var random = SplitMix64(seed: seed)
        var words: [String] = []
        var seen: Set<String> = []
        while words.count < Self.vocabularySize {
            let syllables = (0...random.next() % 3).map { _ in
                Self.pick(Self.consonants, &random) + Self.pick(Self.vowels, &random)
            }
            let word = syllables.joined() + Self.pick(Self.endings, &random)
            if seen.insert(word).inserted { words.append(word) }
        }
        self.words = words
        var sum = 0.0
        weights = words.indices.map { rank in
            sum += 1 / (Double(rank) + 2.7)
            return sum
        }
    }

    /// The document with this index, keys rising: a title of 4 to 8 words, a body of 40 to 120.
    func document(_ index: Int) -> Document {
        var random = self.random(index)
        let digits = String(index)
        return Document(
            id: "document-" + String(repeating: "0", count: max(0, 9 - digits.count)) + digits,
            title: text(4 + Int(random.next() % 5), &random),
            body: text(40 + Int(random.next() % 81), &random),
            updatedAt: Self.firstUpdate + Int64(index))
    }

    func documents(_ count: Int) -> [Document] {
        (0..<count).map(document)
    }

    /// Searches for one to three words that stand together in one of the first `documents` documents. The commonest
    /// words are left out, as people leave out "the" and "of".
    func searches(_ count: Int, among documents: Int) -> [String] {
        var random = SplitMix64(seed: ~seed)
        let common = Set(words.prefix(Self.commonWords))
        var searches: [String] = []
        while searches.count < count {
            let body = document(Int(random.next() % UInt64(documents))).body.split(separator: " ").map(String.init)
            let words = body.filter { !common.contains($0) }
            if words.isEmpty { continue }
            searches.append((0...random.next() % 3).map { _ in Self.pick(words, &random) }.joined(separator: " "))
        }
        return searches
    }

    private func random(_ index: Int) -> SplitMix64 {
        SplitMix64(seed: seed &+ UInt64(index) &* 0xD134_2543_DE82_EF95)
    }

    private func text(_ count: Int, _ random: inout SplitMix64) -> String {
        (0..<count).map { _ in word(&random) }.joined(separator: " ")
    }

    private func word(_ random: inout SplitMix64) -> String {
        let wanted = Double(random.next() >> 11) / Double(1 << 53) * weights[weights.count - 1]
        var (low, high) = (0, weights.count - 1)
        while low < high {
            let middle = (low + high) / 2
            if weights[middle] < wanted { low = middle + 1 } else { high = middle }
        }
        return words[low]
    }

    private static func pick<Element>(_ list: [Element], _ random: inout SplitMix64) -> Element {
        list[Int(random.next() % UInt64(list.count))]
    }
}
