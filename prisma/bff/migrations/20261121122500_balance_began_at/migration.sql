-- AlterTable
ALTER TABLE "balance_proofs" ADD COLUMN     "began_at" TIMESTAMPTZ(3);
