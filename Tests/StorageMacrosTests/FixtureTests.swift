internal import Foundation
internal import Testing

/// Every file in `Fixtures`: what it expands to, what is reported, what the fix-its make of it.
@Suite struct FixtureTests {
    @Test("Expansions are as recorded", arguments: MacroFixture.all)
    func recordedExpansion(_ fixture: MacroFixture) throws {
        let expansion = try fixture.expansion()
        #expect(expansion.syntaxErrors == "")
        if MacroFixture.isRecording {
            try fixture.record(expansion.expanded, in: fixture.expanded)
            try fixture.record(expansion.diagnostics, in: fixture.diagnostics)
        }
        #expect(expansion.expanded == (try fixture.text(of: fixture.expanded)))
        #expect(expansion.diagnostics == (try fixture.text(of: fixture.diagnostics)))
    }

    /// Every use of a macro either writes a record, or names of sources, or says why not.
    @Test("Every use expands or is reported", arguments: MacroFixture.all)
    func expandsOrReports(_ fixture: MacroFixture) throws {
        let source = try fixture.text(of: fixture.source)
        let expansion = try fixture.expansion()
        let uses = source.components(separatedBy: "@StorageEntity").count - 1
        let records = expansion.expanded.components(separatedBy: "typealias E = ").count - 1
        let providers = source.components(separatedBy: "@QuerySources").count - 1
        let lists = expansion.expanded.components(separatedBy: "static var querySourceNames").count - 1
        #expect(records == uses && lists == providers || !expansion.identifiers.isEmpty)
    }

    @Test("Every report has a remedy", arguments: MacroFixture.all)
    func everyReportHasARemedy(_ fixture: MacroFixture) throws {
        let expansion = try fixture.expansion()
        let remedies = expansion.diagnostics.components(separatedBy: "\n- ").count - 1
        #expect(remedies >= expansion.identifiers.count)
    }

    @Test("Every diagnostic has a fixture")
    func everyDiagnosticHasAFixture() throws {
        let reported = try MacroFixture.all.flatMap { try $0.expansion().identifiers }
        #expect(Set(reported) == Self.identifiers)
    }

    private static let identifiers: Set = [
        "column-duplicate", "column-reserved", "computed-id", "conditional", "constant", "entity-name", "generic",
        "generic-parent", "hidden-id", "lazy", "local", "missing-id", "missing-initializer", "missing-type",
        "name-too-long", "not-a-struct", "optional-id", "private-entity", "private-property", "table-empty",
        "table-literal", "table-nul", "table-reserved", "tuple",
        "role-conflict", "role-id", "has-many-array", "belongs-to-optional", "role-literal",
        "foreign-key-missing", "prefix-duplicate", "role-not-a-property", "role-not-stored", "role-outside",
        "conditional-role",
        "type-captured", "unsupported-id", "unsupported-type",
        "private-sources", "sources-missing", "source-conditional", "source-effects", "source-function", "source-lazy",
        "source-name", "source-parameters", "source-private", "source-static", "source-type",
    ]
}
