-- AlterTable
ALTER TABLE "sync_runs" ADD COLUMN     "attended_at" TIMESTAMPTZ(3);
