-- AlterTable
ALTER TABLE "merchants" ADD COLUMN     "next_registration_at" TIMESTAMPTZ(3),
ADD COLUMN     "registered_url" TEXT,
ADD COLUMN     "registration_lease_until" TIMESTAMPTZ(3);

-- CreateIndex
CREATE INDEX "merchants_next_registration_at_idx" ON "merchants"("next_registration_at");
