-- AlterTable
ALTER TABLE "balance_proofs" ADD COLUMN     "rows" DECIMAL(24,6) NOT NULL DEFAULT 0;
