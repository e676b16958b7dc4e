-- RenameColumn
ALTER TABLE "staged_rows" RENAME COLUMN "body" TO "served";
