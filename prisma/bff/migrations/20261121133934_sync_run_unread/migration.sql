-- AlterTable
ALTER TABLE "sync_runs" ADD COLUMN     "unread" JSONB NOT NULL DEFAULT '[]';
