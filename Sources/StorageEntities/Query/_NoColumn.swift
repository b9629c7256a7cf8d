/// A property that no entity has, by any name: key paths to it are what the compiler finds for a misspelt property.
///
/// Calls that take a column by a property or by its name are overloaded. Of a misspelt property the compiler would say that
/// it is no `String`; with one more overload, which is unavailable and takes any name, it says what is wrong.
@dynamicMemberLookup
public struct _NoColumn {
    /// A key path that fits any name.
    public typealias Path = KeyPath<_NoColumn, _NoColumn>

    private init() {}

    /// The same again, so that properties of properties fit.
    public subscript(dynamicMember name: String) -> _NoColumn { self }
}
