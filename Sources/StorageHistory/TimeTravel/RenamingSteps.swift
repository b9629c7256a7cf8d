internal import StorageCore
internal import StorageLog

/// Renames names one after another, such that none is taken when it is given.
enum RenamingSteps {
    /// - Parameter names: The names of all that is there, in the two states.
    static func steps(_ names: [(old: String, new: String)]) -> [(old: String, new: String)] {
        var waiting = names.filter { ExactText($0.old) != ExactText($0.new) }
        var taken = Set(names.map(\.old.folded))
        var known = taken.union(names.map(\.new.folded))
        var steps: [(old: String, new: String)] = []
        func take(_ step: (old: String, new: String)) {
            steps.append(step)
            taken.remove(step.old.folded)
            taken.insert(step.new.folded)
        }
        var aside = 0
        while !waiting.isEmpty {
            if let free = waiting.firstIndex(where: { !taken.contains($0.new.folded) }) {
                take(waiting.remove(at: free))
                continue
            }
            // Each waits for another's name. One that steps aside lets its follower through, and none has to do so twice.
            guard aside < names.count else { return steps + waiting }
            aside += 1
            let first = waiting.removeFirst()
            var name = first.old
            repeat { name += " (renamed)" } while !known.insert(name.folded).inserted
            take((first.old, name))
            waiting.append((name, first.new))
        }
        return steps
    }
}
