import StorageCore
import Testing

@testable import StorageServer

/// Conditions of tokens as text.
struct ConditionTextTests {
    @Test("Conditions are read")
    func conditions() throws {
        let owner = RowPredicate.comparison(column: "owner", .equal, .value(.text("it's")))
        let high = RowPredicate.comparison(column: "n", .greaterOrEqual, .value(.integer(-3)))
        #expect(try ConditionText("owner = 'it''s'").predicate == owner)
        #expect(try ConditionText("owner='it''s'and n>=-3").predicate == .all([owner, high]))
        #expect(
            try ConditionText("owner == 'it''s' OR n >= -3 AND n >= -3").predicate
                == .any([owner, .all([high, high])]))
        #expect(try ConditionText("not (owner = 'it''s')").predicate == .not(owner))
        #expect(try ConditionText("not not n >= -3").predicate == high)
        #expect(
            try ConditionText("\"a b\" in (1, 2.5, 'x', true)").predicate
                == .among(column: "a b", [.integer(1), .real(2.5), .text("x"), .integer(1)]))
        #expect(
            try ConditionText("x > -2.5e-3").predicate
                == .comparison(column: "x", .greater, .value(.real(-2.5e-3))))
        #expect(try ConditionText("x is null").predicate == .isNull(column: "x"))
        #expect(try ConditionText("x is not null").predicate == .not(.isNull(column: "x")))
    }

    @Test(
        "Others are refused",
        arguments: [
            "", "owner", "owner =", "owner = ada", "= 1", "owner = 'a", "(owner = 1", "owner = 1)",
            "owner = 1 owner = 2", "x = 0x1e", "x = 1_0", "x = 1 -- 2", "x = -'a'", "x || 1", "\"x\0\" = 1", "x = +1",
            "owner in ()", "owner is 1", "x = 1 ;", "x = 99999999999999999999", "x = 1 and", "and x = 1", "x = 'a\0'",
            String(repeating: "(", count: 1_000) + "x = 1" + String(repeating: ")", count: 1_000),
        ])
    func malformedConditions(text: String) {
        #expect(throws: StorageError.self) { try ConditionText(text) }
    }
}
