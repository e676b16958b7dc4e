-- AlterTable
ALTER TABLE "account_schedules" ADD COLUMN     "not_offered" TEXT[] DEFAULT ARRAY[]::TEXT[];
