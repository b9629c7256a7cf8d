@StorageEntity
package struct Person {
    package var id: String
    package var name: String
    package var age: Int?
    package var score: Double

    package init(id: String, name: String, age: Int? = nil, score: Double) {
        self.id = id
        self.name = name
        self.age = age
        self.score = score
    }
}
