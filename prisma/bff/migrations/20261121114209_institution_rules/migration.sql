-- AlterTable
ALTER TABLE "institution_reaches" ADD COLUMN     "reconfirmable" BOOLEAN,
ADD COLUMN     "sca_days" INTEGER;
