internal import StorageCore
internal import StorageLog

/// A column and the value that an update assigns to it.
///
/// ```swift
/// try await storage.query(User.self).where { $0.id == "1" }.updateAll { user in
///     user.name.set(to: "Anna")
///     user.age.set(to: nil)
/// }
/// ```
public struct StorageAssignment: Sendable {
    let column: String
    /// What the column stores. An update is put together without `try`: the call that runs it throws the error.
    let value: Result<StorageValue, StorageError>

    init(_ column: String, _ value: some StorageColumnValue) {
        self.column = column
        do throws(StorageError) {
            self.value = .success(try value._storable())
        } catch {
            self.value = .failure(error)
        }
    }

    init(_ column: String, json value: some Codable) {
        self.column = column
        do throws(StorageError) {
            self.value = .success(try _StorageJSON.stored(value))
        } catch {
            self.value = .failure(error)
        }
    }
}

/// Collects the assignments of an update, one for each line.
@resultBuilder public enum AssignmentBuilder {
    public static func buildBlock(_ parts: [StorageAssignment]...) -> [StorageAssignment] { parts.flatMap { $0 } }
    public static func buildExpression(_ assignment: StorageAssignment) -> [StorageAssignment] { [assignment] }
    public static func buildOptional(_ part: [StorageAssignment]?) -> [StorageAssignment] { part ?? [] }
    public static func buildEither(first part: [StorageAssignment]) -> [StorageAssignment] { part }
    public static func buildEither(second part: [StorageAssignment]) -> [StorageAssignment] { part }
}
