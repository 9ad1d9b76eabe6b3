lozenge check-rules library/gsl/convolution.gsl --instances 8
lozenge check-rules tests/gsl/soundness/wrong.gsl --rule softmax_any_axis
lozenge --json check-rules --rule conv_bn --instances 4
lozenge check-rules --rule conv_batch_norm
lozenge check-rules tests/gsl/soundness/wrong.gsl --rule softmax_any_axis --instances 0
