import CBaseline

/// Rows copied to C memory.
final class CPeople {
    let pointer: OpaquePointer

    init(_ people: [Person]) {
        pointer = cb_people_create(people.count)
        for person in people {
            cb_people_add(
                pointer, person.id, person.name, person.email, person.age, person.city, person.active, person.score,
                person.updatedAt)
        }
    }

    deinit {
        cb_people_free(pointer)
    }
}
