@StorageEntity
package struct Note {
    package var id: Int
    package var text: String

    package init(id: Int, text: String) {
        self.id = id
        self.text = text
    }
}
