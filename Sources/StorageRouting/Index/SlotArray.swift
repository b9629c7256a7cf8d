/// Elements with numbers that don't change while the element exists. The numbers of removed elements are reused.
package struct SlotArray<Element> {
    /// The elements by their numbers; the vacancy left by `remove(_:leaving:)` in free slots.
    package private(set) var slots: [Element] = []
    private var free: [Int32] = []

    package init() {}

    /// How many elements there are.
    package var count: Int { slots.count - free.count }

    package subscript(number: Int32) -> Element {
        _read { yield slots[Int(number)] }
        _modify { yield &slots[Int(number)] }
    }

    /// - Returns: The element's number.
    package mutating func insert(_ element: Element) -> Int32 {
        if let number = free.popLast() {
            slots[Int(number)] = element
            return number
        }
        slots.append(element)
        return Int32(slots.count - 1)
    }

    /// Removes an element.
    ///
    /// - Parameter vacancy: What is left in its slot.
    package mutating func remove(_ number: Int32, leaving vacancy: Element) {
        slots[Int(number)] = vacancy
        free.append(number)
    }
}
