-- AlterTable
ALTER TABLE "payments" ADD COLUMN     "sending_at" TIMESTAMPTZ(3);
