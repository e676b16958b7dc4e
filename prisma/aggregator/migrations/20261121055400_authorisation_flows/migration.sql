-- AlterTable
ALTER TABLE "consents" ADD COLUMN     "checked_at" TIMESTAMPTZ(3),
ADD COLUMN     "embedded" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "former_status" TEXT,
ADD COLUMN     "qr_id" UUID,
ADD COLUMN     "redirect_url" TEXT,
ADD COLUMN     "sca_failures" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "sealed_answer" TEXT,
ADD COLUMN     "sealed_sca" TEXT,
ADD COLUMN     "sealed_url" TEXT;

-- CreateIndex
CREATE UNIQUE INDEX "consents_qr_id_key" ON "consents"("qr_id");
