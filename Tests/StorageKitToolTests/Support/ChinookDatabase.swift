import Foundation
import GRDB
import TestSupport

/// A database in the shape of the public sample "Chinook", with generated rows: a shop for music, made without StorageKit.
enum ChinookDatabase {
    static let tables = [
        "Album", "Artist", "Customer", "Employee", "Genre", "Invoice", "InvoiceLine", "MediaType", "Playlist",
        "PlaylistTrack", "Track",
    ]

    static func make(at path: String, tracks: Int = 2_000) throws {
        let queue = try DatabaseQueue(path: path)
        try queue.write { db in
            try db.execute(sql: schema)
            try fill(db, tracks)
        }
        try queue.close()
    }

    private static func fill(_ db: Database, _ tracks: Int) throws {
        var random = SplitMix64(seed: 11)
        for (table, names) in [
            ("Genre", ["Rock", "Jazz", "Größe", "日本の音楽"]), ("MediaType", ["MPEG", "AAC", "Protected AAC"]),
            ("Playlist", ["Music", "90’s Music", "", "On-The-Go 1"]),
        ] {
            for name in names { try db.execute(sql: "INSERT INTO \(table)(Name) VALUES (?)", arguments: [name]) }
        }
        for number in 1...275 {
            try db.execute(
                sql: "INSERT INTO Artist(Name) VALUES (?)", arguments: [number % 50 == 0 ? nil : "Artist \(number)"])
        }
        for number in 1...347 {
            try db.execute(
                sql: "INSERT INTO Album(Title, ArtistId) VALUES (?, ?)",
                arguments: ["Álbum \(number)", Int.random(in: 1...275, using: &random)])
        }
        for number in 1...tracks {
            try db.execute(
                sql: "INSERT INTO Track VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                arguments: [
                    number, "Track \(number)", number % 7 == 0 ? nil : Int.random(in: 1...347, using: &random),
                    Int.random(in: 1...3, using: &random), Int.random(in: 1...4, using: &random),
                    number % 3 == 0 ? nil : "A, B & \(number)", Int.random(in: 1_000...5_000_000, using: &random),
                    Int.random(in: 1_000...1_000_000_000, using: &random), number % 5 == 0 ? 1.99 : 0.99,
                ])
            if number % 3 == 0 {
                try db.execute(
                    sql: "INSERT INTO PlaylistTrack VALUES (?, ?)",
                    arguments: [Int.random(in: 1...4, using: &random), number])
            }
        }
        for number in 1...8 {
            try db.execute(
                sql: """
                    INSERT INTO Employee(LastName, FirstName, ReportsTo, BirthDate, Email) VALUES (?, ?, ?, ?, ?)
                    """,
                arguments: ["Last \(number)", "First", number == 1 ? nil : number / 2, "1962-02-18 00:00:00", nil])
        }
        for number in 1...59 {
            try db.execute(
                sql: "INSERT INTO Customer(FirstName, LastName, Email, SupportRepId, Photo) VALUES (?, ?, ?, ?, ?)",
                arguments: ["C", "\(number)", "c\(number)@example.com", 1 + number % 8, Data([0, 255, UInt8(number)])])
            for _ in 0..<7 {
                try db.execute(
                    sql: "INSERT INTO Invoice(CustomerId, InvoiceDate, Total) VALUES (?, ?, ?)",
                    arguments: [number, "2021-0\(1 + number % 9)-01 00:00:00", Double(number) * 0.99])
                let invoice = db.lastInsertedRowID
                for _ in 0..<5 {
                    try db.execute(
                        sql: "INSERT INTO InvoiceLine(InvoiceId, TrackId, UnitPrice, Quantity) VALUES (?, ?, ?, 1)",
                        arguments: [invoice, Int.random(in: 1...tracks, using: &random), number % 2 == 0 ? 1 : 0.99])
                }
            }
        }
    }

    private static let schema = """
        CREATE TABLE [Artist]([ArtistId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, [Name] NVARCHAR(120));
        CREATE TABLE [Album]([AlbumId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, [Title] NVARCHAR(160) NOT NULL,
          [ArtistId] INTEGER NOT NULL,
          FOREIGN KEY ([ArtistId]) REFERENCES [Artist]([ArtistId]) ON DELETE NO ACTION ON UPDATE NO ACTION);
        CREATE TABLE [Genre]([GenreId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, [Name] NVARCHAR(120));
        CREATE TABLE [MediaType]([MediaTypeId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, [Name] NVARCHAR(120));
        CREATE TABLE [Playlist]([PlaylistId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, [Name] NVARCHAR(120));
        CREATE TABLE [Track]([TrackId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, [Name] NVARCHAR(200) NOT NULL,
          [AlbumId] INTEGER REFERENCES [Album]([AlbumId]), [MediaTypeId] INTEGER NOT NULL REFERENCES [MediaType],
          [GenreId] INTEGER REFERENCES [Genre], [Composer] NVARCHAR(220), [Milliseconds] INTEGER NOT NULL,
          [Bytes] INTEGER, [UnitPrice] NUMERIC(10,2) NOT NULL);
        CREATE TABLE [PlaylistTrack]([PlaylistId] INTEGER NOT NULL, [TrackId] INTEGER NOT NULL,
          CONSTRAINT [PK_PlaylistTrack] PRIMARY KEY ([PlaylistId], [TrackId]),
          FOREIGN KEY ([PlaylistId]) REFERENCES [Playlist]([PlaylistId]) ON DELETE CASCADE,
          FOREIGN KEY ([TrackId]) REFERENCES [Track]([TrackId]));
        CREATE TABLE [Employee]([EmployeeId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, [LastName] NVARCHAR(20) NOT NULL,
          [FirstName] NVARCHAR(20) NOT NULL, [ReportsTo] INTEGER REFERENCES [Employee]([EmployeeId]),
          [BirthDate] DATETIME, [Email] NVARCHAR(60));
        CREATE TABLE [Customer]([CustomerId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, [FirstName] NVARCHAR(40) NOT NULL,
          [LastName] NVARCHAR(20) NOT NULL, [Email] NVARCHAR(60) NOT NULL UNIQUE,
          [SupportRepId] INTEGER REFERENCES [Employee]([EmployeeId]) ON DELETE SET NULL, [Photo] BLOB);
        CREATE TABLE [Invoice]([InvoiceId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
          [CustomerId] INTEGER NOT NULL REFERENCES [Customer] ON DELETE CASCADE, [InvoiceDate] DATETIME NOT NULL,
          [Total] NUMERIC(10,2) NOT NULL);
        CREATE TABLE [InvoiceLine]([InvoiceLineId] INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
          [InvoiceId] INTEGER NOT NULL REFERENCES [Invoice] ON DELETE CASCADE, [TrackId] INTEGER NOT NULL REFERENCES [Track],
          [UnitPrice] NUMERIC(10,2) NOT NULL, [Quantity] INTEGER NOT NULL);
        CREATE INDEX [IFK_AlbumArtistId] ON [Album]([ArtistId]);
        CREATE INDEX [IFK_TrackAlbumId] ON [Track]([AlbumId]);
        CREATE UNIQUE INDEX [IPK_PlaylistTrack] ON [PlaylistTrack]([PlaylistId], [TrackId]);
        CREATE VIEW [Sales] AS SELECT CustomerId, sum(Total) AS Sum FROM Invoice GROUP BY CustomerId;
        CREATE TRIGGER [InvoiceTotal] AFTER INSERT ON [InvoiceLine] BEGIN
          UPDATE Invoice SET Total = Total + new.UnitPrice * new.Quantity WHERE InvoiceId = new.InvoiceId; END;
        """
}
