@StorageEntity struct User { var name: String }
