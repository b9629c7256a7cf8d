internal import StorageLog

/// Names for what is gone beside what is there: where a name is taken already, the one that is gone gets another.
package struct UniqueNames {
    private var taken: Set<ExactText>

    /// - Parameter names: Those of what is there.
    package init(besides names: some Sequence<String>) { taken = Set(names.map(ExactText.init)) }

    package mutating func name(ofGone name: String) -> String {
        var name = name
        while !taken.insert(ExactText(name)).inserted { name += " (gone)" }
        return name
    }
}
