/// Numbers for people, the same in every locale.
enum NumberText {
    /// Digits in groups of three.
    static func grouped(_ number: Int) -> String {
        var output = ""
        let digits = String(number.magnitude)
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { output.append(",") }
            output.append(digit)
        }
        return number < 0 ? "-" + output : output
    }

    /// `1 row`, `2,000 rows`.
    ///
    /// - Parameter plural: The plural of the noun; the singular with an s if nil.
    static func count(_ number: some BinaryInteger, _ one: String, plural: String? = nil) -> String {
        "\(grouped(Int(number))) \(number == 1 ? one : plural ?? one + "s")"
    }

    /// `16 KiB`
    static func bytes(_ bytes: Int64) -> String {
        let units: [(Int64, String)] = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")]
        guard let (size, unit) = units.first(where: { bytes >= $0.0 }) else { return "\(bytes) bytes" }
        return "\(bytes / size) \(unit)"
    }
}
