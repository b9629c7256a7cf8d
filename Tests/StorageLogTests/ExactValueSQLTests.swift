import GRDB
import StorageHistory
import StorageLog
import TestSupport
import Testing

/// SQL for a value is the value when SQLite has read it.
@Suite struct ExactValueSQLTests {
    @Test("SQLite reads every double back bit for bit", arguments: TestSettings.seeds(2, from: 1))
    func doubles(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        var values: [Double] = [
            0, -0.0, 1, -1, 0.1, 1e15, 1e16, 1e22, 1e23, -1e300, 1e-300, .leastNonzeroMagnitude,
            -.leastNonzeroMagnitude, 0x1p53, 0x1p63, 1.2915e-12,
            9_007_199_254_740_991, 4_503_599_627_370_497.5, .infinity, -.infinity, .leastNormalMagnitude,
            .leastNormalMagnitude.nextDown, .greatestFiniteMagnitude, .pi,
        ]
        for _ in 0..<TestSettings.scaled(5_000) {
            let bits = random.next()
            values.append(Double(bitPattern: bits))
            // Subnormal numbers, the smallest normal ones, and those that have a few decimal digits.
            values.append(Double(bitPattern: bits & ~(0x7E0 << 52)))
            values.append(Double("\(Int64(bitPattern: bits) >> Int64(random.below(64)))e-\(random.below(40))") ?? 0)
        }
        try DatabaseQueue().read { db in
            for value in values where !value.isNaN {
                let sql = ExactValue.real(value.bitPattern).sql
                let found = try Double.fetchOne(db, sql: "SELECT \(sql)")
                #expect(found?.bitPattern == value.bitPattern, "\(value) is \(sql)")
            }
        }
    }

    @Test("Usual doubles remain decimal numbers")
    func decimals() {
        let values: [Double] = [0, 1, 1.5, -0.1, 19.99, 3.14159, 1e-7, 52.520008, 1_753_000_000.123456]
        for value in values { #expect(ExactValue.real(value.bitPattern).sql == "\(value)") }
        #expect(ExactValue.real((0.1 + 0.2).bitPattern).sql == "(1351079888211149.0 / 4503599627370496)")
        #expect(ExactValue.real(Double(0x1p70).bitPattern).sql == "(4503599627370496.0 * 262144)")
    }
}
