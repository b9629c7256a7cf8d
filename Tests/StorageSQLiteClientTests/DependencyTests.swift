import StorageSQLiteClient
import Testing

/// Injection: what is given where, and who sees it.
struct DependencyTests {
    @Test("By default tests have the test value")
    func testValueByDefault() {
        @Dependency(\.greeting) var greeting
        #expect(greeting == "test")
        #expect(
            withDependencies {
                $0.context = .live
            } operation: {
                greeting
            } == "live")
        #expect(
            withDependencies {
                $0.context = .preview
            } operation: {
                greeting
            } == "live")
    }

    @Test("The nearest scope counts")
    func nearestScope() async throws {
        @Dependency(\.greeting) var greeting
        await withDependencies {
            $0.greeting = "outer"
        } operation: {
            #expect(greeting == "outer")
            withDependencies {
                $0.greeting = "inner"
            } operation: {
                #expect(greeting == "inner")
            }
            let task = Task {
                @Dependency(\.greeting) var inTask
                return inTask
            }
            #expect(await task.value == "outer")
        }
        #expect(greeting == "test")
    }

    @Test("What is created in a scope keeps it")
    func scopeOfCreation() {
        struct Model {
            @Dependency(\.greeting) var greeting
        }
        let model = withDependencies {
            $0.greeting = "mine"
        } operation: {
            Model()
        }
        #expect(model.greeting == "mine")
        #expect(
            withDependencies {
                $0.greeting = "here"
            } operation: {
                model.greeting
            } == "here")
    }

    @Test("Prepared values are for all")
    func preparedValues() async {
        @Dependency(\.prepared) var prepared
        #expect(prepared == 0)
        prepareDependencies { $0.prepared = 1 }
        #expect(prepared == 1)
        let detached = Task.detached {
            @Dependency(\.prepared) var inTask
            return inTask
        }
        #expect(await detached.value == 1)
        #expect(
            withDependencies {
                $0.prepared = 2
            } operation: {
                prepared
            } == 2)
        await prepareDependencies { values in
            await Task.yield()
            values.prepared = 3
        }
        #expect(prepared == 3)
    }

    @Test("The value of a key is created once")
    func valueIsCreatedOnce() {
        @Dependency(\.counted) var counted
        #expect(counted === counted)
    }
}

final class Counted: Sendable {}

extension DependencyValues {
    fileprivate var greeting: String {
        get { self[GreetingKey.self] }
        set { self[GreetingKey.self] = newValue }
    }

    fileprivate var prepared: Int {
        get { self[PreparedKey.self] }
        set { self[PreparedKey.self] = newValue }
    }

    fileprivate var counted: Counted { self[CountedKey.self] }

    private enum GreetingKey: DependencyKey {
        static let liveValue = "live"
        static let testValue = "test"
    }

    private enum PreparedKey: DependencyKey {
        static let liveValue = 0
    }

    private enum CountedKey: DependencyKey {
        static var liveValue: Counted { Counted() }
    }
}
