-- AlterTable
ALTER TABLE "consents" ADD COLUMN     "renewal_lease_until" TIMESTAMPTZ(3);
