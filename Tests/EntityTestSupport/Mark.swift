/// The rows of the worker.
@StorageEntity(table: "marks")
package struct Mark: Hashable {
    package var id: String
    package var batch: String
    package var number: Int

    package init(id: String, batch: String, number: Int) {
        self.id = id
        self.batch = batch
        self.number = number
    }
}
