internal import StorageCore

/// The values of an interest's ``Interest/valueColumn`` that a node has added and removed.
package struct HeldValues {
    /// The interest's number among those of the node, or of a part of it.
    var interest: Int
    var added: [StorageValue] = []
    var removed: [StorageValue] = []

    /// The same where other interests come first.
    func behind(_ interests: Int) -> HeldValues {
        HeldValues(interest: interests + interest, added: added, removed: removed)
    }
}
