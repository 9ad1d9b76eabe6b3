lozenge check-rules --rule conv_bn --rule conv_mul --rule trans_trans --instances 8
lozenge check-rules softmax.gsl
lozenge --json check-rules --rule conv_bn --instances 4
lozenge check-rules --rule conv_batch_norm 2>&1 | head -3
lozenge check-rules --rule conv_nb
lozenge check-rules softmax.gsl --instances 0
